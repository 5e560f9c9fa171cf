import { sharedValue } from './shared-value.ts';

/** The dialog over the page, which any part of the page can open. */
const overlay = sharedValue<'palette' | 'keyboard' | null>(null);

export const openOverlay = overlay.set;
export const closeOverlay = () => overlay.set(null);
export const useOverlay = overlay.use;
