import { eventEncoder } from '../../../src/client.ts'
import { errorText } from '../../../src/contract/errors.ts'
import { approvalEvents } from '../../../src/contract/run/call-event.ts'
import { namesOf } from '../../../src/contract/shape/shape.ts'
import { type AgentEvent, PhiError } from '../../../src/index.ts'
import type { ShownEvents, WaitingForPerson } from '../../../src/internal.ts'
import { type AgUiEncoder, agUiSse } from '../../../src/ui/ag-ui.ts'
import { type UiMessageEncoder, uiMessageSse, uiMessageStreamEnd } from '../../../src/ui/ai-sdk.ts'
import { type ChatEncoder, chatStreamEnd, openAiSse, type ResponseEncoder, responseSse } from '../../../src/ui/openai.ts'

/** Writes the events of one response as server-sent events, in the client's protocol. */
export interface FrameWriter {
  /** Returns the frames for `event`, which may be empty. */
  write(event: AgentEvent): string
  /** Whether the run is waiting for a user who can respond only after this response ends. */
  readonly waiting: WaitingForPerson
  /** Returns a frame with the shared-state version. Absent if the protocol does not support it. */
  state?(version: number): string
  /** Returns the last frames of a response whose run is waiting. */
  suspend(): string
  /** Returns the last frames once the events have ended. */
  end(): string
  /** Returns the last frames if the events cannot be read or an event cannot be written. */
  fail(error: unknown): string
}

/** Creates a writer for the native protocol: compact frames for `eventDecoder` from `phi-core/client`. */
export function nativeFrames(shown: ShownEvents): FrameWriter {
  const encoder = eventEncoder(shown)
  return {
    write: (event) => encoder.sse(event),
    state: (version) => `event: sharedState\ndata: ${JSON.stringify({ version })}\n\n`,
    waiting: 'no',
    suspend: () => '',
    end: () => '',
    fail: (error) => {
      const code = PhiError.isInstance(error) ? error.code : 'stream'
      return `event: error\ndata: ${JSON.stringify({ code, message: errorText(error) })}\n\n`
    },
  }
}

/** Events that clients of a shared conversation need. */
const turning: readonly AgentEvent['type'][] = ['agentStart', ...namesOf(approvalEvents), 'agentEnd']

/**
 * Creates a writer that only notifies when a turn starts, waits, continues or ends: `{ type, loopId }`. Clients load the messages
 * separately.
 */
export function turnFrames(): FrameWriter {
  return {
    write: ({ type, loopId }) => (turning.includes(type) ? `data: ${JSON.stringify({ type, loopId })}\n\n` : ''),
    waiting: 'no',
    suspend: () => '',
    end: () => '',
    fail: () => '',
  }
}

/** An encoder of run events in another protocol. */
export interface ProtocolEncoder<Chunk> extends Pick<FrameWriter, 'waiting'> {
  encode(event: AgentEvent): Chunk[]
  skip(event: AgentEvent): void
  suspend(): Chunk[]
  end(): Chunk[]
  fail(error: unknown): Chunk[]
}

/** Returns whether the client already has an event. */
export type IsSeen = (event: AgentEvent) => boolean

/** Creates a writer for the AI SDK's UI message stream. Skips events that the client has. */
export function uiMessageFrames(encoder: UiMessageEncoder, isSeen?: IsSeen): FrameWriter {
  return protocolFrames(encoder, { sse: uiMessageSse, last: uiMessageStreamEnd, isSeen })
}

/** Creates a writer for AG-UI events. Skips events that the client has. */
export function agUiFrames(encoder: AgUiEncoder, isSeen?: IsSeen): FrameWriter {
  return protocolFrames(encoder, { sse: agUiSse, last: '', isSeen })
}

/** Creates a writer for OpenAI chat completion chunks. */
export function chatFrames(encoder: ChatEncoder): FrameWriter {
  return protocolFrames(encoder, { sse: openAiSse, last: chatStreamEnd, isSeen: undefined })
}

/** Creates a writer for OpenAI Responses API events. Skips events that the caller has. */
export function responseFrames(encoder: ResponseEncoder, isSeen?: IsSeen): FrameWriter {
  return protocolFrames(encoder, { sse: responseSse, last: '', isSeen })
}

/** Creates a writer that passes each chunk to `take`, for a response that is not streamed. */
export function wholeFrames<Chunk>(encoder: ProtocolEncoder<Chunk>, take: (chunk: Chunk) => void, isSeen?: IsSeen): FrameWriter {
  const taken = (chunk: Chunk): string => {
    take(chunk)
    return ''
  }
  return protocolFrames(encoder, { sse: taken, last: '', isSeen })
}

function protocolFrames<Chunk>(
  encoder: ProtocolEncoder<Chunk>,
  { sse, last, isSeen = () => false }: { sse: (chunk: Chunk) => string; last: string; isSeen: IsSeen | undefined },
): FrameWriter {
  // Skipped requests are already settled, so they are not pending.
  let isPassingOver = false
  const textOf = (chunks: Chunk[]) => chunks.map(sse).join('')
  return {
    write: (event) => {
      // Always write the end event, even if the client has already received it.
      isPassingOver = isSeen(event) && event.type !== 'agentEnd' && event.type !== 'parallelLoopEnd'
      if (!isPassingOver) return textOf(encoder.encode(event))
      encoder.skip(event)
      return ''
    },
    get waiting() {
      return isPassingOver ? 'no' : encoder.waiting
    },
    suspend: () => textOf(encoder.suspend()) + last,
    end: () => textOf(encoder.end()) + last,
    fail: (error) => textOf(encoder.fail(error)) + last,
  }
}

/** Returns a predicate for the events that a client has when it settles these calls: all events before the first call was resolved. */
export function untilResolved(toolCallIds: Iterable<string>): IsSeen {
  const settled = new Set(toolCallIds)
  let isBefore = true
  return (event) => {
    const isAnswer = event.type === 'approvalResolved' || event.type === 'clientCallResolved'
    if (isAnswer && settled.has(event.toolCallId)) isBefore = false
    return isBefore
  }
}
