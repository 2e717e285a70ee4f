import { startTimer } from '../../../src/base/timer.ts'
import type { AgentEvent } from '../../../src/index.ts'
import type { ChatEncoderOptions, ResponseEncoderOptions, RunFailed } from '../../../src/internal.ts'
import {
  brokenOff,
  type CompletionRequest,
  chatCompletionEncoder,
  chatCompletionOf,
  failureOf,
  type ResponseEvent,
  type ResponseRequest,
  responseEncoder,
} from '../../../src/ui/openai.ts'
import type { Caller } from '../access/authorize.ts'
import type { RunSource } from '../stream/event-source.ts'
import { chatFrames, type FrameWriter, type IsSeen, responseFrames, untilResolved, wholeFrames } from '../stream/frame-writer.ts'
import { RunFrames } from '../stream/run-frames.ts'
import { eventStream, type RunStreamOptions } from '../stream/run-stream.ts'
import { failureResponse } from './openai-error.ts'

/** The run behind a response. */
export interface Answering {
  source: RunSource
  /** Ids of the caller's messages. */
  given?: ReadonlySet<string>
  /**
   * Settled calls. The caller has all events before the first of these calls was resolved. If absent or empty, the caller has no events
   * from the run.
   */
  since?: readonly string[]
  /** Stops a run that no client can reconnect to. Absent for a run in a session, which continues without the client. */
  stop?: (reason: unknown) => void
  streaming: RunStreamOptions & { caller: Caller }
}

/** Responds with a run as a chat completion, streamed or complete. If the run fails before any output, sets the HTTP status. */
export async function chatAnswer({ model, isStreamed, includeUsage }: CompletionRequest, answering: Answering): Promise<Response> {
  const options: ChatEncoderOptions = {
    ...{ id: `chatcmpl-${answering.source.runId}`, model, created: epochSeconds(), includeUsage, isWhole: !isStreamed },
    ...encoderOptionsOf(answering),
  }
  const encoder = chatCompletionEncoder(options)
  if (isStreamed) return streamed(answering, chatFrames(encoder))
  const chunks: Parameters<typeof chatCompletionOf>[0][number][] = []
  await readWhole(
    answering,
    wholeFrames(encoder, (chunk) => void chunks.push(chunk)),
  )
  if (encoder.failure !== undefined) return failureResponse(encoder.failure, isStored(answering))
  return Response.json(chatCompletionOf(chunks), { headers: sessionHeaders(answering) })
}

/** Responds with a run as a Responses API response, streamed or complete. */
export async function responseAnswer({ model, isStreamed, echo }: ResponseRequest, answering: Answering): Promise<Response> {
  const isSeen = isSeenOf(answering)
  const options: ResponseEncoderOptions = {
    ...{ model, created: epochSeconds(), echo, isStored: isStored(answering), isWhole: !isStreamed },
    ...encoderOptionsOf(answering),
  }
  const encoder = responseEncoder(options)
  if (isStreamed) return streamed(answering, responseFrames(encoder, isSeen))
  let last: ResponseEvent | undefined
  const take = (event: ResponseEvent) => {
    last = event
  }
  await readWhole(answering, wholeFrames(encoder, take, isSeen))
  if (encoder.failure !== undefined) return failureResponse(encoder.failure, isStored(answering))
  return Response.json(last !== undefined && 'response' in last ? last.response : {}, { headers: sessionHeaders(answering) })
}

/** Responds immediately with a started run, which the client polls later. */
export async function backgroundAnswer({ model, echo }: ResponseRequest, answering: Answering): Promise<Response> {
  const isSeen = isSeenOf(answering)
  const encoder = responseEncoder({ model, created: epochSeconds(), echo, isStored: true, isWhole: true })
  for await (const event of answering.source) {
    if (isSeen(event)) encoder.skip(event)
    else {
      const [begun] = encoder.encode(event)
      const response = begun !== undefined && 'response' in begun ? { ...begun.response, background: true } : {}
      return Response.json(response, { headers: sessionHeaders(answering) })
    }
  }
  return failureResponse({ status: 500, error: brokenOff }, true)
}

function epochSeconds(): number {
  return Math.floor(Date.now() / 1000)
}

function encoderOptionsOf({ given }: Answering): Pick<ChatEncoderOptions, 'given'> {
  return given === undefined ? {} : { given }
}

/** Header that contains the session id of a chat completion. */
export const sessionHeader = 'x-session-id'

function sessionHeaders(answering: Answering): Record<string, string> {
  return { 'cache-control': 'no-store', ...(isStored(answering) && { [sessionHeader]: answering.source.sessionId }) }
}

/** Returns whether the run is in a session. */
function isStored({ stop }: Answering): boolean {
  return stop === undefined
}

/** Creates the predicate for one reader, because it depends on the events that the reader has read so far. */
function isSeenOf({ since = [] }: Answering): IsSeen {
  return since.length === 0 ? () => false : untilResolved(since)
}

async function streamed(answering: Answering, writer: FrameWriter): Promise<Response> {
  const { source, stop, streaming } = answering
  // Count this response as one of the caller's streams before the first byte.
  const leave = streaming.streams.enter(streaming.caller)
  const failed = await failedUnheard(answering).finally(leave)
  if (failed !== undefined) return failureResponse(failed, isStored(answering))
  const headers = { 'content-type': 'text/event-stream; charset=utf-8', 'x-accel-buffering': 'no', ...sessionHeaders(answering) }
  return eventStream(source, streaming, { writer, headers, ...(stop !== undefined && { onCancel: stop }) })
}

/**
 * Returns the reason why a run failed before any output. Returns `undefined` at the first output, or after a while, so that the client
 * receives a first byte.
 */
async function failedUnheard(answering: Answering): Promise<RunFailed | undefined> {
  const events = answering.source[Symbol.asyncIterator]()
  const isSeen = isSeenOf(answering)
  let stopTimer = (): void => undefined
  const isLate = new Promise<'late'>((resolve) => {
    stopTimer = startTimer(answering.streaming.pingMs, () => resolve('late'))
  })
  try {
    for (;;) {
      const next = await Promise.race([events.next(), isLate])
      if (next === 'late' || next.done === true) return undefined
      const event = next.value
      if (isSeen(event)) continue
      if (event.type === 'agentEnd') return failureOf(event)
      if (isHeard(event)) return undefined
    }
  } finally {
    stopTimer()
    await events.return?.()
  }
}

/** Returns whether this event produces output for the client. */
function isHeard({ type }: AgentEvent): boolean {
  return type === 'messageUpdate' || type === 'toolExecutionStart' || type === 'approvalRequested' || type === 'clientCallRequested'
}

/** Reads a run until it ends or a call is pending. */
async function readWhole({ source, streaming }: Answering, writer: FrameWriter): Promise<void> {
  const leave = streaming.streams.enter(streaming.caller)
  const disconnect = source.enter?.()
  const frames = new RunFrames(source, writer)
  try {
    for (let frame = await frames.next(); !frame.isLast; ) frame = await frames.next()
  } finally {
    leave()
    disconnect?.()
    await frames.leave()
  }
}
