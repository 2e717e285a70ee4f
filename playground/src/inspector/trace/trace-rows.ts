import type { Span } from '../../state/log/trace.ts'

/** A span as a row of the waterfall. */
export interface TraceRow {
  span: Span
  depth: number
  /** Number of its siblings, including itself. */
  siblings: number
  /** The loop that it belongs to, which sets the scale of its bar. */
  root: Span
}

/** A row's layout, in fractions of its loop's duration. */
interface TraceBar {
  /** 0 to 1. */
  from: number
  /** 0 to 1. */
  length: number
  /** 0 to 1. The time when the first token arrived. */
  firstToken: number | undefined
  /** Milliseconds. */
  took: number
}

/** Loops with more turns than this start with folded turns. */
const manyTurns = 30

export function startsFolded(span: Span, siblings: number): boolean {
  return span.kind === 'turn' && siblings > manyTurns
}

/** Returns the visible rows. Children of folded spans are omitted. */
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

/** Returns a visible row's layout. `now` is the end for unfinished spans. */
export function barOf({ span, root }: TraceRow, now: number): TraceBar {
  // Each loop has its own scale, because the user may think for hours between two loops.
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
