import type { AgentRun } from '../../../src/index.ts'
import { startTimer } from '../../../src/internal.ts'
import {
  brokenOff,
  type ChatEncoderOptions,
  type CompletionRequest,
  chatCompletionEncoder,
  chatCompletionOf,
  failureOf,
  type ResponseEncoderOptions,
  type ResponseEvent,
  type ResponseRequest,
  type RunFailed,
  responseEncoder,
} from '../../../src/ui/openai/index.ts'
import type { Caller } from '../access/authorize.ts'
import { chatFrames, type FrameWriter, type IsSeen, responseFrames, wholeFrames } from '../stream/frame-writer.ts'
import { RunFrames } from '../stream/run-frames.ts'
import { eventStream, type RunStreamOptions, waitsForPerson } from '../stream/run-stream.ts'
import { failureResponse } from './openai-error.ts'

/** The run that a request is answered with. */
export interface Answering {
  run: AgentRun
  /** Ids of what the caller has said itself. */
  given?: ReadonlySet<string>
  /** What the caller has seen of the run in an answer before. */
  isSeen?: IsSeen
  /** Whether it is in a session, which goes on without the client. */
  isStored: boolean
  streaming: RunStreamOptions & { live: { caller: Caller; goneElsewhere?: AbortSignal; enter?(): () => void } }
}

/** A run as a chat completion, in one piece or as a stream. Where it fails before it has said anything, the status says so. */
export async function chatAnswer({ model, isStreamed, includeUsage }: CompletionRequest, answering: Answering): Promise<Response> {
  const options: ChatEncoderOptions = {
    ...{ id: `chatcmpl-${answering.run.id}`, model, created: epochSeconds(), includeUsage, isWhole: !isStreamed },
    ...toldOf(answering),
  }
  const encoder = chatCompletionEncoder(options)
  if (isStreamed) return streamed(answering, chatFrames(encoder))
  const chunks: Parameters<typeof chatCompletionOf>[0][number][] = []
  await readWhole(
    answering,
    wholeFrames(encoder, (chunk) => void chunks.push(chunk)),
  )
  if (encoder.failure !== undefined) return failureResponse(encoder.failure, answering.isStored)
  return Response.json(chatCompletionOf(chunks), { headers: sessionHeaders(answering) })
}

/** A run as a response, in one piece or as a stream. */
export async function responseAnswer({ model, isStreamed, echo }: ResponseRequest, answering: Answering): Promise<Response> {
  const { isStored, isSeen } = answering
  const options: ResponseEncoderOptions = {
    ...{ model, created: epochSeconds(), echo, isStored, isWhole: !isStreamed },
    ...toldOf(answering),
  }
  const encoder = responseEncoder(options)
  if (isStreamed) return streamed(answering, responseFrames(encoder, isSeen))
  let last: ResponseEvent | undefined
  const take = (event: ResponseEvent) => {
    last = event
  }
  await readWhole(answering, wholeFrames(encoder, take, isSeen))
  if (encoder.failure !== undefined) return failureResponse(encoder.failure, isStored)
  return Response.json(last !== undefined && 'response' in last ? last.response : {}, { headers: sessionHeaders(answering) })
}

/** The response that a run has begun, at once: what comes of it is asked for later. */
export async function backgroundAnswer({ model, echo }: ResponseRequest, answering: Answering): Promise<Response> {
  const { run, isSeen = () => false } = answering
  const encoder = responseEncoder({ model, created: epochSeconds(), echo, isStored: true, isWhole: true })
  for await (const event of run) {
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

function toldOf({ given }: Answering): Pick<ChatEncoderOptions, 'given'> {
  return given === undefined ? {} : { given }
}

/** The header by which callers of chat completions name a session. */
export const sessionHeader = 'x-session-id'

function sessionHeaders({ run, isStored }: Answering): Record<string, string> {
  return { 'cache-control': 'no-store', ...(isStored && { [sessionHeader]: run.sessionId }) }
}

async function streamed(answering: Answering, writer: FrameWriter): Promise<Response> {
  const { run, isStored, streaming } = answering
  // It is one of those that stream to the caller, also before its first byte.
  const leave = streaming.streams.enter(streaming.live.caller)
  const failed = await failedUnheard(run, streaming.pingMs).finally(leave)
  if (failed !== undefined) return failureResponse(failed, isStored)
  const headers = { 'content-type': 'text/event-stream; charset=utf-8', 'x-accel-buffering': 'no', ...sessionHeaders(answering) }
  const onCancel = (reason: unknown) => (isStored ? undefined : run.abort(reason))
  return eventStream(run, streaming, { writer, headers, waits: waitsForPerson(run), onCancel })
}

/** Why a run has failed before anything was said; `undefined` once something is, or it takes so long that the client has to hear that it is on. */
function failedUnheard(run: AgentRun, limitMs: number): Promise<RunFailed | undefined> {
  return new Promise((resolve) => {
    const done = (failed: RunFailed | undefined): void => {
      leave()
      stopTimer()
      resolve(failed)
    }
    const leave = run.subscribe((event) => {
      if (event.type === 'agentEnd') done(failureOf(event))
      else if (
        event.type === 'messageUpdate' ||
        event.type === 'toolExecutionStart' ||
        event.type === 'approvalRequested' ||
        event.type === 'clientCallRequested'
      )
        done(undefined)
    })
    const stopTimer = startTimer(limitMs, () => done(undefined))
    // It has ended already: nothing more comes.
    void run.result.then(() => done(undefined))
  })
}

/** Reads all of a run, as far as it goes until somebody is asked. */
async function readWhole({ run, streaming }: Answering, writer: FrameWriter): Promise<void> {
  const { streams, live } = streaming
  const leave = streams.enter(live.caller)
  const disconnect = live.enter?.()
  const frames = new RunFrames(run[Symbol.asyncIterator](), { writer, waits: waitsForPerson(run) })
  try {
    for (let frame = await frames.next(); !frame.isLast; ) frame = await frames.next()
  } finally {
    leave()
    disconnect?.()
    await frames.leave()
  }
}
