import type { BlockView } from '../../../src/store/index.ts'

/** What the model thought: open while it grows, then folded to one line. */
export function Thinking({ block, isGrowing }: { block: Extract<BlockView, { type: 'thinking' }>; isGrowing: boolean }) {
  return (
    <details class="thinking" open={isGrowing} data-testid="thinking">
      <summary>{isGrowing ? 'Thinking…' : `Thought${duration(block)}`}</summary>
      <p class="text">{block.text}</p>
    </details>
  )
}

function duration({ startedAt, updatedAt }: { startedAt?: number; updatedAt?: number }): string {
  if (startedAt === undefined || updatedAt === undefined) return ''
  return ` for ${((updatedAt - startedAt) / 1000).toFixed(1)} s`
}
