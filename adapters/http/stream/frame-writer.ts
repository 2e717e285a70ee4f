import { type AgentEvent, PhiError } from '../../../src/index.ts'
import { type UiMessageEncoder, uiMessageSse, uiMessageStreamEnd } from '../../../src/ui/ai-sdk/index.ts'
import { eventEncoder, type ShownEvents } from '../../../src/ui/native/index.ts'

/** Writes the events of one answer as server-sent events, in the protocol of its client. */
export interface FrameWriter {
  /** The frames for `event`; the empty text for none. */
  write(event: AgentEvent): string
  /** Whether the run waits for a person who can answer only once this answer has ended. */
  readonly waiting: 'no' | 'likely' | 'certain'
  /** The last frames of an answer whose run waits. */
  suspend(): string
  /** The last frames once the events have ended. */
  end(): string
  /** The last frames when the events cannot be read on, or one cannot be written. */
  fail(error: unknown): string
}

/** Our own protocol: lean frames, which `eventDecoder` of `phi-core/ui/native` reads. */
export function nativeFrames(shown: ShownEvents): FrameWriter {
  const encoder = eventEncoder(shown)
  return {
    write: (event) => encoder.sse(event),
    waiting: 'no',
    suspend: () => '',
    end: () => '',
    fail: (error) => {
      const code = PhiError.isInstance(error) ? error.code : 'stream'
      return `event: error\ndata: ${JSON.stringify({ code, message: error instanceof Error ? error.message : String(error) })}\n\n`
    },
  }
}

/** The UI message stream of the AI SDK. Events that `isSeen` says the client has are passed over. */
export function uiMessageFrames(encoder: UiMessageEncoder, isSeen: (event: AgentEvent) => boolean = () => false): FrameWriter {
  // Somebody has answered what is passed over: it waits no more.
  let isPassingOver = false
  const textOf = (chunks: ReturnType<UiMessageEncoder['encode']>) => chunks.map(uiMessageSse).join('')
  return {
    write: (event) => {
      isPassingOver = isSeen(event)
      if (!isPassingOver) return textOf(encoder.encode(event))
      encoder.skip(event)
      return ''
    },
    get waiting() {
      return isPassingOver ? 'no' : encoder.waiting
    },
    suspend: () => textOf(encoder.suspend()) + uiMessageStreamEnd,
    end: () => textOf(encoder.end()) + uiMessageStreamEnd,
    fail: (error) => textOf(encoder.fail(error)) + uiMessageStreamEnd,
  }
}
