import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import type { BlockView } from '../../../src/store.ts'
import { duration } from '../parts/figures.ts'
import { Icon } from '../parts/icon.tsx'

/** Milliseconds that thinking stays open after it has ended. */
const lingerMs = 1000

/** The model's thinking, open while it streams and then folded to one line. A manual toggle takes precedence. */
export function Thinking({ block, isGrowing }: { block: Extract<BlockView, { type: 'thinking' }>; isGrowing: boolean }) {
  const isOpen = useSignal(isGrowing)
  const isDecided = useSignal(false)
  useEffect(() => {
    if (isDecided.value) return
    if (isGrowing) isOpen.value = true
    else if (isOpen.value) {
      const timer = setTimeout(() => {
        if (!isDecided.value) isOpen.value = false
      }, lingerMs)
      return () => clearTimeout(timer)
    }
  }, [isGrowing])
  return (
    <details class="thinking" open={isOpen.value} data-testid="thinking" data-status={isGrowing ? 'streaming' : 'done'}>
      {/* biome-ignore lint/a11y/noStaticElementInteractions: a summary is what one clicks. */}
      <summary
        onClick={(event) => {
          event.preventDefault()
          isDecided.value = true
          isOpen.value = !isOpen.value
        }}
      >
        <Icon name="chevron" class="twist" />
        {isGrowing ? 'Thinking…' : `Thought${took(block)}`}
      </summary>
      <p class="text plain">{block.text}</p>
    </details>
  )
}

function took({ startedAt, updatedAt }: { startedAt?: number; updatedAt?: number }): string {
  return startedAt === undefined || updatedAt === undefined ? '' : ` for ${duration(updatedAt - startedAt)}`
}
