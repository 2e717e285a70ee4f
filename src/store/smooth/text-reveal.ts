import type { AgentEvent } from '../../contract/run/event.ts'
import type { BlockView, RunState } from '../state.ts'
import type { EndOfUnit } from './end-of-unit.ts'
import { motionCheck, nextFrame } from './page-frames.ts'

/** Maximum milliseconds from the arrival of text to its appearance. */
const paceMs = 250
/** Milliseconds after which an incomplete unit appears if it stopped growing. */
const stallMs = 1000
/** Milliseconds that a live event may be faster than all events before it. */
const jitterMs = 10

type Growing = Extract<BlockView, { type: 'text' | 'thinking' }>

/**
 * Reveals the streaming message's last block frame by frame. The block's text is `#shown + #hidden`. Positions are relative to the block's
 * start. Each event and frame costs O(new text).
 */
export class TextReveal {
  readonly #endOfUnit: EndOfUnit
  readonly #publish: () => void
  readonly #seesMotion = motionCheck()
  readonly #isReplayed = replayCheck()
  #shown = ''
  #hidden = ''
  /** Deadlines by which the text up to a position must be visible, oldest first; one entry per frame. */
  #due: { until: number; at: number }[] = []
  /** Current position at an even pace, which may be inside a unit. */
  #position = 0
  #movedAt = 0
  /** Length of `#hidden` when it last consisted of one incomplete unit. */
  #triedLength = 0
  /** The last returned view, reused while nothing changes. */
  #last: { of: RunState; length: number; view: RunState } | undefined
  #cancelFrame: (() => void) | undefined
  #stall: ReturnType<typeof setTimeout> | undefined

  constructor(endOfUnit: EndOfUnit, publish: () => void) {
    this.#endOfUnit = endOfUnit
    this.#publish = publish
  }

  /**
   * Returns whether later frames show `event`, so that nothing must be published now. `before` and `after` are the states around the event.
   */
  holds(event: AgentEvent, before: RunState, after: RunState): boolean {
    // The event is already known, or belongs to another conversation.
    if (after === before || event.type === 'childEvent') return false
    const grown = this.#isReplayed(event) || !this.#seesMotion() ? undefined : grownText(event, before, after)
    if (grown === undefined) {
      this.release()
      return false
    }
    if (grown.isNew) this.release()
    this.#hold(grown.before, grown.delta)
    return !grown.isNew
  }

  /** Returns `state` with only the visible part of its last block. */
  shown(state: RunState): RunState {
    const block = this.#hidden === '' ? undefined : state.live?.blocks.at(-1)
    if (state.live === undefined || block === undefined || !isGrowing(block)) return state
    if (this.#last?.of !== state || this.#last.length !== this.#shown.length) {
      const blocks = state.live.blocks.with(-1, { ...block, text: this.#shown })
      this.#last = { of: state, length: this.#shown.length, view: { ...state, live: { ...state.live, blocks } } }
    }
    return this.#last.view
  }

  /** Makes all text visible for the next publication, and leaves no timer behind. */
  release(): void {
    this.#stop()
    this.#shown = ''
    this.#hidden = ''
    this.#due = []
    this.#triedLength = 0
    this.#last = undefined
  }

  #stop(): void {
    this.#cancelFrame?.()
    this.#cancelFrame = undefined
    clearTimeout(this.#stall)
    this.#stall = undefined
  }

  #hold(before: string, delta: string): void {
    const now = performance.now()
    if (this.#hidden === '') {
      this.#shown = before
      this.#position = before.length
    }
    // The pace starts again after a pause.
    if (this.#due.length === 0) this.#movedAt = now
    this.#hidden += delta
    const until = this.#shown.length + this.#hidden.length
    const last = this.#due.at(-1)
    if (last !== undefined && last.at >= this.#movedAt + paceMs) last.until = until
    else this.#due.push({ until, at: now + paceMs })
    clearTimeout(this.#stall)
    this.#stall = undefined
    this.#cancelFrame ??= nextFrame(this.#onFrame)
  }

  readonly #onFrame = (): void => {
    this.#stop()
    if (this.#seesMotion()) this.#advance(performance.now())
    else this.release()
    if (this.#due.length > 0) this.#cancelFrame = nextFrame(this.#onFrame)
    else if (this.#hidden !== '') this.#stall = setTimeout(this.#showAll, stallMs)
    this.#publish()
  }

  readonly #showAll = (): void => {
    this.release()
    this.#publish()
  }

  /** Advances at the slowest even pace that meets all deadlines, and shows the units reached. */
  #advance(now: number): void {
    const from = this.#position
    for (const { until, at } of this.#due) {
      const reached = at > now ? from + ((until - from) * (now - this.#movedAt)) / (at - this.#movedAt) : until
      this.#position = Math.max(this.#position, reached)
    }
    this.#movedAt = now
    this.#due = this.#due.filter(({ until }) => until > this.#position)
    const index = Math.floor(this.#position) - this.#shown.length
    if (index < 0 || !this.#mayHaveGrown()) return
    const end = this.#endOfUnit(this.#hidden, Math.min(index, this.#hidden.length - 1))
    this.#triedLength = end === 0 ? this.#hidden.length : 0
    this.#shown += this.#hidden.slice(0, end)
    this.#hidden = this.#hidden.slice(end)
  }

  /** A long unit is searched again only after it has grown by a part of its length: each character is read a constant number of times. */
  #mayHaveGrown(): boolean {
    return this.#hidden.length - this.#triedLength >= this.#triedLength >> 5
  }
}

/**
 * Returns a function that tells whether an event is a replay, which appears immediately. Call it once per event, in order.
 *
 * A replay is older than this function and arrives faster than it was sent. Age alone is not enough, because the server's clock may be
 * behind the clock of this page.
 */
function replayCheck(): (event: AgentEvent) => boolean {
  const since = Date.now()
  let lead = -Infinity
  let last = since
  let isCatchingUp = true
  return ({ at }) => {
    const now = Date.now()
    const gained = at - now - lead
    if (gained > jitterMs) isCatchingUp = true
    else if (gained <= 0 && now > last) isCatchingUp = false
    lead = Math.max(lead, at - now)
    last = now
    return isCatchingUp && at < since
  }
}

/** Returns the text or thinking that `event` appends to the streaming message's last block, or `undefined` for any other event. */
function grownText(event: AgentEvent, before: RunState, after: RunState): { before: string; delta: string; isNew: boolean } | undefined {
  if (event.type !== 'messageUpdate' || (event.delta.type !== 'text' && event.delta.type !== 'thinking')) return undefined
  const { contentIndex, delta, type } = event.delta
  const { live } = after
  const block = live?.blocks[contentIndex]
  if (live?.id !== event.messageId || live.blocks.length !== contentIndex + 1 || block?.type !== type || !isGrowing(block)) return undefined
  const old = before.live?.id === live.id ? before.live.blocks[contentIndex] : undefined
  const text = old !== undefined && isGrowing(old) ? old.text : ''
  // If the lengths differ, the event overlaps the state.
  return text.length + delta.length === block.text.length ? { before: text, delta, isNew: old === undefined } : undefined
}

function isGrowing(block: BlockView): block is Growing {
  return block.type === 'text' || block.type === 'thinking'
}
