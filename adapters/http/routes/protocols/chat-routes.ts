import type { JsonObject } from '../../../../src/index.ts'
import { readChatRequest, toUiMessages, uiMessageEncoder, uiMessageStreamHeaders } from '../../../../src/ui/ai-sdk/index.ts'
import { readJsonObject } from '../../access/body.ts'
import { refuse } from '../../access/problem.ts'
import type { SessionDesk } from '../../live/desk/session-desk.ts'
import type { RunPlace } from '../../stream/event-source.ts'
import { type IsSeen, turnFrames, uiMessageFrames } from '../../stream/frame-writer.ts'
import { eventStream } from '../../stream/run-stream.ts'
import { untilResolved } from '../../stream/until-resolved.ts'
import { askedIn } from '../client-settings.ts'
import type { SessionApp, SessionRouteOptions } from '../route-options.ts'
import { mediaFormOf, ownMediaIn } from './own-media.ts'

/**
 * What `useChat` of the AI SDK asks for: `POST /chat`, `GET /chat/stream` (204 when nothing is on), and `GET /chat` for the messages of a
 * conversation that a page opens. Its stop is `POST /stop`. `GET /chat/turns` tells a page that others have spoken, decided or been answered.
 *
 * Source: docs/concepts/ui-protocols.md
 */
export function addChatRoutes(app: SessionApp, options: SessionRouteOptions): void {
  app.get('/chat', async (c) => {
    const { messages, approvals, clientCalls } = await c.env.desk.read.history({ media: mediaFormOf(options) })
    return c.json({ messages: toUiMessages(messages, { approvals, clientCalls }) })
  })
  app.post('/chat', async (c) => {
    const { desk } = c.env
    const body = await withOwnMedia(await readJsonObject(c, options.body), desk, options)
    const { value: request, problem } = readChatRequest(body)
    if (request === undefined) refuse(400, 'invalidBody', problem)
    const ask = askedIn(body, options.clientSettings)
    options.streams.assertRoom(desk.caller)
    const { decisions, results, trigger, message, messageId } = request
    if (decisions.length + results.length === 0) {
      const isAgain = trigger === 'regenerate-message'
      return chatStream(desk, await desk.command({ type: 'turn', message, messageId, isAgain, ask }), options)
    }
    const run = await desk.command({ type: 'settle', decisions, results })
    return chatStream(desk, run, options, { isSeen: untilResolved([...decisions, ...results]) })
  })
  app.get('/chat/stream', async (c) => {
    const { desk } = c.env
    const loopId = await desk.read.running()
    if (loopId === undefined) return c.body(null, 204)
    options.streams.assertRoom(desk.caller)
    return chatStream(desk, { loopId }, options, { restate: true })
  })
  app.get('/chat/turns', async (c) => {
    const { desk } = c.env
    options.streams.assertRoom(desk.caller)
    return eventStream(await desk.follow(undefined), { ...options, caller: desk.caller }, { writer: turnFrames() })
  })
}

interface ChatStream {
  isSeen?: IsSeen
  /** For a client that has none of the answer. */
  restate?: boolean
}

async function chatStream(
  desk: SessionDesk,
  run: RunPlace,
  options: SessionRouteOptions,
  { isSeen, restate = false }: ChatStream = {},
): Promise<Response> {
  const source = await desk.events(run, mediaFormOf(options))
  const encoder = uiMessageEncoder({ history: await source.historyBefore(), restate })
  const writer = uiMessageFrames(encoder, isSeen)
  return eventStream(source, { ...options, caller: desk.caller }, { writer, headers: uiMessageStreamHeaders })
}

/** What is said last may have files that this session keeps. */
async function withOwnMedia(body: JsonObject, desk: SessionDesk, options: SessionRouteOptions): Promise<JsonObject> {
  const { messages } = body
  const last = Array.isArray(messages) ? messages.at(-1) : undefined
  if (!Array.isArray(messages) || last === undefined) return body
  const own = await ownMediaIn(last, desk, options)
  return own === last ? body : { ...body, messages: [...messages.slice(0, -1), own] }
}
