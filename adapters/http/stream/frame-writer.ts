import { eventEncoder } from '../../../src/client.ts'
import { errorText } from '../../../src/contract/errors.ts'
import { approvalEvents } from '../../../src/contract/run/call-event.ts'
import { namesOf } from '../../../src/contract/shape/shape.ts'
import { type AgentEvent, PhiError } from '../../../src/index.ts'
import type { ShownEvents, WaitingForPerson } from '../../../src/internal.ts'
import { type AgUiEncoder, agUiSse } from '../../../src/ui/ag-ui.ts'
import { type UiMessageEncoder, uiMessageSse, uiMessageStreamEnd } from '../../../src/ui/ai-sdk.ts'
import { type ChatEncoder, chatStreamEnd, openAiSse, type ResponseEncoder, responseSse } from '../../../src/ui/openai.ts'

/** Writes the events of one answer as server-sent events, in the protocol of its client. */
export interface FrameWriter {
  /** The frames for `event`; the empty text for none. */
  write(event: AgentEvent): string
  /** Whether the run waits for a person who can answer only once this answer has ended. */
  readonly waiting: WaitingForPerson
  /** The frame that says which version of shared state the session has now, of no run. Absent where the protocol has none. */
  state?(version: number): string
  /** The last frames of an answer whose run waits. */
  suspend(): string
  /** The last frames once the events have ended. */
  end(): string
  /** The last frames when the events cannot be read on, or one cannot be written. */
  fail(error: unknown): string
}

/** Our own protocol: lean frames, which `eventDecoder` of `phi-core/client` reads. */
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

/** Which events a page has to hear of that shows a conversation in which others speak too. */
const turning: readonly AgentEvent['type'][] = ['agentStart', ...namesOf(approvalEvents), 'agentEnd']

/** Only that a turn of the conversation has begun, waits, goes on or has ended: `{ type, loopId }`. What was said is read elsewhere. */
export function turnFrames(): FrameWriter {
  return {
    write: ({ type, loopId }) => (turning.includes(type) ? `data: ${JSON.stringify({ type, loopId })}\n\n` : ''),
    waiting: 'no',
    suspend: () => '',
    end: () => '',
    fail: () => '',
  }
}

/** What turns the events of a run into those of another protocol. */
export interface ProtocolEncoder<Chunk> extends Pick<FrameWriter, 'waiting'> {
  encode(event: AgentEvent): Chunk[]
  skip(event: AgentEvent): void
  suspend(): Chunk[]
  end(): Chunk[]
  fail(error: unknown): Chunk[]
}

/** Says of an event whether the client has it already. */
export type IsSeen = (event: AgentEvent) => boolean

/** The UI message stream of the AI SDK. Events that the client has are passed over. */
export function uiMessageFrames(encoder: UiMessageEncoder, isSeen?: IsSeen): FrameWriter {
  return protocolFrames(encoder, { sse: uiMessageSse, last: uiMessageStreamEnd, isSeen })
}

/** The events of AG-UI. Events that the client has are passed over. */
export function agUiFrames(encoder: AgUiEncoder, isSeen?: IsSeen): FrameWriter {
  return protocolFrames(encoder, { sse: agUiSse, last: '', isSeen })
}

/** Chunks of a chat completion of OpenAI's API. */
export function chatFrames(encoder: ChatEncoder): FrameWriter {
  return protocolFrames(encoder, { sse: openAiSse, last: chatStreamEnd, isSeen: undefined })
}

/** Events of a response of OpenAI's API. Events of the run that the caller has are passed over. */
export function responseFrames(encoder: ResponseEncoder, isSeen?: IsSeen): FrameWriter {
  return protocolFrames(encoder, { sse: responseSse, last: '', isSeen })
}

/** Writes no frames: hands each chunk to `take`, for an answer in one piece. */
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
  // Somebody has answered what is passed over: it waits no more.
  let isPassingOver = false
  const textOf = (chunks: Chunk[]) => chunks.map(sse).join('')
  return {
    write: (event) => {
      // However much the client has: each response has an end.
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

/** What a client has seen of a run when it says something about these calls: everything up to the first answer to what it was asked. */
export function untilResolved(toolCallIds: Iterable<string>): IsSeen {
  const settled = new Set(toolCallIds)
  let isBefore = true
  return (event) => {
    const isAnswer = event.type === 'approvalResolved' || event.type === 'clientCallResolved'
    if (isAnswer && settled.has(event.toolCallId)) isBefore = false
    return isBefore
  }
}
