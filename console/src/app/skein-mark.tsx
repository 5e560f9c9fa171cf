/** The mark, as in the icon of the window. */
export function SkeinMark({ size = 24 }: { size?: number }) {
  return (
    <svg width={size} height={size} viewBox="0 0 32 32" aria-hidden="true">
      <rect width="32" height="32" rx="8" fill="#4338ca" />
      <g fill="none" stroke="#fff" strokeWidth="2.5" strokeLinecap="round">
        <path d="M8 11c5-5 11 5 16 0" />
        <path d="M8 16c5-5 11 5 16 0" />
        <path d="M8 21c5-5 11 5 16 0" />
      </g>
    </svg>
  );
}
