import type { Span } from '../../state/trace.ts'

/** A span as a line of the waterfall. Shares are of the time of the loop that it is part of. */
export interface TraceRow {
  span: Span
  depth: number
  /** 0 to 1. */
  from: number
  /** 0 to 1. */
  length: number
  /** 0 to 1: when the first token came. */
  firstToken: number | undefined
  /** Milliseconds. */
  took: number
  canFold: boolean
}

/** Loops with more turns than this begin folded: their turns are opened one by one. */
const manyTurns = 30

export function startsFolded(span: Span, siblings: number): boolean {
  return span.kind === 'turn' && siblings > manyTurns
}

/** The lines that are seen: those of folded spans are left out. `now` ends what still goes on. */
export function traceRows(roots: readonly Span[], isFolded: (span: Span, siblings: number) => boolean, now: number): TraceRow[] {
  const rows: TraceRow[] = []
  function walk(span: Span, depth: number, scale: { from: number; length: number }, siblings: number): void {
    rows.push(rowOf(span, depth, scale, now))
    if (isFolded(span, siblings)) return
    for (const child of span.children) walk(child, depth + 1, scale, span.children.length)
  }
  // Between two loops a person may think for hours: each has a scale of its own.
  for (const root of roots)
    walk(root, 0, { from: root.startedAt, length: Math.max(1, (root.endedAt ?? now) - root.startedAt) }, roots.length)
  return rows
}

function rowOf(span: Span, depth: number, scale: { from: number; length: number }, now: number): TraceRow {
  const share = (at: number): number => Math.min(1, Math.max(0, (at - scale.from) / scale.length))
  const { startedAt, endedAt = Math.max(now, startedAt), firstTokenAt, children } = span
  return {
    span,
    depth,
    from: share(startedAt),
    length: share(endedAt) - share(startedAt),
    firstToken: firstTokenAt === undefined ? undefined : share(firstTokenAt),
    took: endedAt - startedAt,
    canFold: children.length > 0,
  }
}
