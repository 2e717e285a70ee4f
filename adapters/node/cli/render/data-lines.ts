import { shortened } from '../../../../src/base/text/characters.ts'
import type { DataEvent } from '../../../../src/contract/run/event.ts'
import { joined, type Painted, type Painter } from '../terminal/paint.ts'

/** Data parts of one call, or outside of calls, that are shown. */
const mostShown = 5
/** Data parts that are remembered until they are shown. */
const mostKept = 1000

/**
 * A run's data parts as lines, one per name and id. Updates change only the live line. `take` returns the newest values when the call has
 * ended.
 */
export class DataLines {
  /** By sender, then by name and id. The newest is last. */
  readonly #parts = new Map<string | undefined, Map<string, DataEvent>>()

  add(event: DataEvent): void {
    const parts = this.#parts.get(event.toolCallId) ?? new Map<string, DataEvent>()
    this.#parts.set(event.toolCallId, parts)
    const key = `${event.name} ${event.dataId}`
    parts.delete(key)
    parts.set(key, event)
    const [oldest] = parts.keys()
    if (parts.size > mostKept && oldest !== undefined) parts.delete(oldest)
  }

  /** Returns the line of the newest part that a running call sent. */
  newest(toolCallId: string | undefined, painter: Painter, width: number): Painted[] {
    const part = [...(this.#parts.get(toolCallId)?.values() ?? [])].at(-1)
    return part === undefined ? [] : [lineOf(part, painter, width)]
  }

  /** Returns lines for the stored parts from a call, or from hooks outside a call. Then removes all of these parts. */
  take(toolCallId: string | undefined, painter: Painter, width: number): Painted[] {
    const kept = [...(this.#parts.get(toolCallId)?.values() ?? [])].filter(({ transient }) => !transient)
    this.#parts.delete(toolCallId)
    const hidden = kept.length - mostShown
    const lines = kept.slice(-mostShown).map((part) => lineOf(part, painter, width))
    return hidden > 0 ? [painter.paint('dim', `◇ ${hidden} earlier data parts`), ...lines] : lines
  }

  clear(): void {
    this.#parts.clear()
  }
}

function lineOf({ name, value }: DataEvent, { paint }: Painter, width: number): Painted {
  const json = shortened(JSON.stringify(value), Math.max(20, width - name.length - 4))
  return joined(paint('cyan', `◇ ${name} `), paint('dim', json))
}
