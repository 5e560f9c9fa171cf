import { type RefObject, useCallback, useEffect, useRef, useState } from 'react';

/** Below this, a reader is at the end: a few pixels are lost to rounding and to bars that come and go. */
const nearPixels = 64;
/** What comes with the end of a reply (its sources) still counts as growing. */
const settlingMs = 1_000;

export interface FollowedEnd {
  /** The end is out of sight. */
  readonly isAway: boolean;
  readonly toEnd: () => void;
}

/** Keeps a reader who is at the end of the page there while it grows, and leaves all others where they are. */
export function useFollowEnd(content: RefObject<HTMLElement | null>, isGrowing: boolean): FollowedEnd {
  const [isAway, setAway] = useState(false);
  const isAtEnd = useRef(false);
  const follows = useRef(isGrowing);

  useEffect(() => {
    if (isGrowing) {
      follows.current = true;
      return;
    }
    const timer = setTimeout(() => {
      follows.current = false;
    }, settlingMs);
    return () => clearTimeout(timer);
  }, [isGrowing]);

  useEffect(() => {
    const look = () => {
      const distance = pixelsToEnd();
      isAtEnd.current = distance < nearPixels;
      setAway(distance > 4 * nearPixels);
    };
    const grown = new ResizeObserver(() => {
      if (follows.current && isAtEnd.current) scrollToEnd('instant');
      else look();
    });
    look();
    if (content.current) grown.observe(content.current);
    addEventListener('scroll', look, { passive: true });
    return () => {
      grown.disconnect();
      removeEventListener('scroll', look);
    };
  }, [content]);

  const toEnd = useCallback(() => {
    isAtEnd.current = true;
    const isStill = !matchMedia('(prefers-reduced-motion: reduce)').matches && !follows.current;
    // A page that grows meanwhile would leave a gentle movement behind.
    scrollToEnd(isStill ? 'smooth' : 'instant');
  }, []);
  return { isAway, toEnd };
}

function pixelsToEnd(): number {
  return document.documentElement.scrollHeight - innerHeight - scrollY;
}

function scrollToEnd(behavior: ScrollBehavior): void {
  scrollTo({ top: document.documentElement.scrollHeight, behavior });
}
