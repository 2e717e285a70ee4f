/** A number as headers have it: no more digits than a sum with it can hold, with or without a fraction. */
export function count(text: string | null | undefined): number | undefined {
  return /^\d{1,15}(\.\d+)?$/.test(text ?? '') ? Number(text) : undefined
}

/** How long a `retry-after` header asks to wait, in ms: seconds, or a date, measured from `clock` (epoch ms). `undefined` for anything else. */
export function retryAfterIn(header: string | null | undefined, clock: number): number | undefined {
  const said = header?.trim()
  // Engines make a date of almost anything with a number in it, and one that is over would mean: at once.
  if (said !== undefined && /\d\d:\d\d:\d\d/.test(said)) {
    const at = Date.parse(said)
    if (!Number.isNaN(at)) return Math.max(0, at - clock)
  }
  const seconds = count(said)
  return seconds === undefined ? undefined : Math.round(seconds * 1000)
}
