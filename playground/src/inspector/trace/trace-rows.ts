import type { Span } from '../../state/log/trace.ts'

/** A span as a line of the waterfall. */
export interface TraceRow {
  span: Span
  depth: number
  /** How many it is one of. */
  siblings: number
  /** The loop that it is part of, which is the scale of its bar. */
  root: Span
}

/** Layout of a row. Fractions are of the time of its loop. */
interface TraceBar {
  /** 0 to 1. */
  from: number
  /** 0 to 1. */
  length: number
  /** 0 to 1: when the first token came. */
  firstToken: number | undefined
  /** Milliseconds. */
  took: number
}

/** Loops with more turns than this begin folded: their turns are opened one by one. */
const manyTurns = 30

export function startsFolded(span: Span, siblings: number): boolean {
  return span.kind === 'turn' && siblings > manyTurns
}

/** The lines that are there: those of folded spans are left out. */
export function traceRows(roots: readonly Span[], isFolded: (span: Span, siblings: number) => boolean): TraceRow[] {
  const rows: TraceRow[] = []
  function walk(span: Span, depth: number, root: Span, siblings: number): void {
    rows.push({ span, depth, siblings, root })
    if (isFolded(span, siblings)) return
    for (const child of span.children) walk(child, depth + 1, root, span.children.length)
  }
  for (const root of roots) walk(root, 0, root, roots.length)
  return rows
}

/** Only for visible rows. `now` is the end of unfinished spans. */
export function barOf({ span, root }: TraceRow, now: number): TraceBar {
  // Between two loops a person may think for hours: each has a scale of its own.
  const whole = Math.max(1, (root.endedAt ?? now) - root.startedAt)
  const share = (at: number): number => Math.min(1, Math.max(0, (at - root.startedAt) / whole))
  const { startedAt, endedAt = Math.max(now, startedAt), firstTokenAt } = span
  return {
    from: share(startedAt),
    length: share(endedAt) - share(startedAt),
    firstToken: firstTokenAt === undefined ? undefined : share(firstTokenAt),
    took: endedAt - startedAt,
  }
}
