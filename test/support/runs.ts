// Tests of all runtimes read this, and only some of these have `process`.
declare const process: { env: Record<string, string | undefined> } | undefined

/** Whether this is `npm run soak`. */
export const isSoak = typeof process !== 'undefined' && process.env?.PHI_SOAK === 'true'

/** How many random cases a property is tried with: `few` in `npm test`, which finds nearly all that it ever will, `many` in `npm run soak`. */
export function runs(few: number, many: number): number {
  return isSoak ? many : few
}
