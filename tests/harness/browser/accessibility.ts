import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Page } from 'playwright-core';

const axeSource = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

const wcag = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];
/** Besides contrast, the rule that depends on colors. */
const colors = ['link-in-text-block'];

/**
 * Fails on problems that axe-core rates serious or critical by the rules of WCAG 2.2 AA. `colors` is for a page whose
 * other rules have been checked with other colors.
 */
export async function assertAccessible(
  page: Page,
  what: string,
  rules: 'all' | 'colors' = 'all',
): Promise<void> {
  await injectAxe(page);
  const violations = await page.evaluate(
    async (runOnly) => {
      const { axe } = globalThis as any;
      const found = await axe.run({
        runOnly,
        rules: { 'color-contrast': { enabled: false } },
        resultTypes: ['violations'],
        // Only one of these rules reads what axe would fetch first, and it is never rated serious: no-autoplay-audio.
        preload: false,
      });
      return found.violations as Violation[];
    },
    rules === 'all' ? wcag : colors,
  );
  assertNoneGrave(violations, what);
  await assertContrast(page, what);
}

/** The styles of text whose contrast has passed on some page of this process. */
const passedStyles = new Set<string>();

/**
 * Fails if axe-core finds too little contrast. This is the slowest rule, and pages repeat their styles. So it skips
 * an element if another one has passed with the same style of its text, its ancestors and everything else at its place.
 */
export async function assertContrast(page: Page, what: string): Promise<void> {
  await injectAxe(page);
  const { violations, passed } = await page.evaluate(checkContrast, [...passedStyles]);
  assertNoneGrave(violations, what);
  for (const style of passed) passedStyles.add(style);
}

interface Violation {
  readonly id: string;
  readonly impact: string;
  readonly nodes: readonly { readonly html: string; readonly failureSummary: string }[];
}

function assertNoneGrave(violations: readonly Violation[], what: string): void {
  const grave = violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ id, impact, nodes }) => ({
      id,
      impact,
      where: nodes.slice(0, 5).map(({ html, failureSummary }) => `${html} ${failureSummary}`),
    }));
  assert.deepEqual(grave, [], `${what}: ${JSON.stringify(grave, undefined, 2)}`);
}

/** Through the debugging protocol, because the page's policy allows no foreign scripts. */
async function injectAxe(page: Page): Promise<void> {
  if (!(await page.evaluate('"axe" in globalThis'))) await page.evaluate(axeSource);
}

/** Runs in the page. */
async function checkContrast(
  passedBefore: readonly string[],
): Promise<{ violations: Violation[]; passed: string[] }> {
  const { axe, document, getComputedStyle } = globalThis as any;
  const none = 'rgba(0, 0, 0, 0),none,1,none,normal';
  /** The elements that may change the colors behind a text, with their place and style. */
  const layers = [...document.querySelectorAll('*')].flatMap((element) => {
    const { backgroundColor, backgroundImage, opacity, filter, mixBlendMode, zIndex, visibility } =
      getComputedStyle(element);
    const style = [backgroundColor, backgroundImage, opacity, filter, mixBlendMode].join();
    if (style === none) return [];
    return { element, style: `${style},${zIndex},${visibility}`, ...measurePlace(element) };
  });
  const readStyle = (element: any): string => {
    const { color, fontSize, fontWeight, textShadow } = getComputedStyle(element);
    const { left, right, top, bottom } = measurePlace(element);
    const [x, y] = [(left + right) / 2, (top + bottom) / 2];
    const around = layers.flatMap((layer) => {
      if (layer.element.contains(element)) return `in ${layer.style}`;
      const overlaps = layer.left <= x && x <= layer.right && layer.top <= y && y <= layer.bottom;
      return overlaps ? layer.style : [];
    });
    return [color, fontSize, fontWeight, textShadow, ...around].join('|');
  };
  function measurePlace(element: any): { left: number; right: number; top: number; bottom: number } {
    const { left, right, top, bottom } = element.getBoundingClientRect();
    return { left, right, top, bottom };
  }

  const elements = new Set<any>(document.querySelectorAll('input, select, textarea'));
  const texts = document.createTreeWalker(document.body, 4);
  while (texts.nextNode()) {
    if (texts.currentNode.data.trim() !== '') elements.add(texts.currentNode.parentElement);
  }
  const styles = new Map([...elements].map((element) => [element, readStyle(element)]));
  const passed = new Set(passedBefore);
  const include = [...elements].filter((element) => !passed.has(styles.get(element)!));
  if (include.length === 0) return { violations: [], passed: [] };
  const found = await axe.run(
    { include },
    { runOnly: ['color-contrast'], resultTypes: ['violations', 'passes'], elementRef: true, preload: false },
  );
  return {
    violations: found.violations,
    passed: found.passes.flatMap(({ nodes }: any) =>
      nodes.flatMap(({ element }: any) => styles.get(element) ?? []),
    ),
  };
}
