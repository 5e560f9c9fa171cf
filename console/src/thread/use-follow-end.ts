import { type RefObject, useCallback, useEffect, useRef, useState } from 'react';

/** Within this distance a reader counts as being at the end: rounding and disappearing scroll bars cost a few pixels. */
const nearPixels = 64;
/** Content that appears with the end of a reply (its sources) still counts as growth. */
const settlingMs = 1_000;

export type FollowedEnd = ReturnType<typeof useFollowEnd>;

/** Keeps a reader who is at the end of the page there while it grows. Other readers keep their position. */
export function useFollowEnd(content: RefObject<HTMLElement | null>, isGrowing: boolean) {
  /** Whether the end is out of view. */
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
    const measure = () => {
      const distance = pixelsToEnd();
      isAtEnd.current = distance < nearPixels;
      setAway(distance > 4 * nearPixels);
    };
    const observer = new ResizeObserver(() => {
      if (follows.current && isAtEnd.current) scrollToEnd('instant');
      else measure();
    });
    measure();
    if (content.current) observer.observe(content.current);
    addEventListener('scroll', measure, { passive: true });
    return () => {
      observer.disconnect();
      removeEventListener('scroll', measure);
    };
  }, [content]);

  const toEnd = useCallback(() => {
    isAtEnd.current = true;
    const isSmooth = !matchMedia('(prefers-reduced-motion: reduce)').matches && !follows.current;
    // Smooth scrolling would fall behind on a page that grows.
    scrollToEnd(isSmooth ? 'smooth' : 'instant');
  }, []);
  return { isAway, toEnd };
}

function pixelsToEnd(): number {
  return document.documentElement.scrollHeight - innerHeight - scrollY;
}

function scrollToEnd(behavior: ScrollBehavior): void {
  scrollTo({ top: document.documentElement.scrollHeight, behavior });
}
