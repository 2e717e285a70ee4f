import type { AgentRun, JsonObject } from '../../../../src/index.ts'
import {
  type ChatRequest,
  readChatRequest,
  toUiMessages,
  uiMessageEncoder,
  uiMessageStreamHeaders,
} from '../../../../src/ui/ai-sdk/index.ts'
import { readJsonObject } from '../../access/body.ts'
import { refuse } from '../../access/problem.ts'
import type { LiveSession } from '../../live/live-session.ts'
import { type IsSeen, turnFrames, uiMessageFrames } from '../../stream/frame-writer.ts'
import { eventStream, waitsForPerson } from '../../stream/run-stream.ts'
import { askedIn } from '../client-settings.ts'
import type { SessionApp, SessionRouteOptions } from '../route-options.ts'
import { beginForPerson } from './begin-for-person.ts'
import { LinkedMedia } from './linked-media.ts'
import { settle, untilResolved } from './settle.ts'

/**
 * What `useChat` of the AI SDK asks for: `POST /chat`, `GET /chat/stream` (204 when nothing is on), and `GET /chat` for the messages of a
 * conversation that a page opens. Its stop is `POST /stop`. `GET /chat/turns` tells a page that others have spoken, decided or been answered.
 *
 * Source: docs/concepts/ui-protocols.md
 */
export function addChatRoutes(app: SessionApp, options: SessionRouteOptions): void {
  app.get('/chat', async (c) => {
    const { live } = c.env
    const { messages, approvals, clientCalls } = await live.history()
    const shown = await new LinkedMedia(live, options.mediaBase).messages(messages)
    return c.json({ messages: toUiMessages(shown, { approvals, clientCalls }) })
  })
  app.post('/chat', async (c) => {
    const body = await withOwnMedia(await readJsonObject(c, options.body), new LinkedMedia(c.env.live, options.mediaBase))
    const { value: request, problem } = readChatRequest(body)
    if (request === undefined) refuse(400, 'invalidBody', problem)
    const asked = askedIn(body, options.clientSettings)
    options.streams.assertRoom(c.env.live.caller)
    const { live } = c.env
    const { decisions, results } = request
    if (decisions.length + results.length === 0) return chatStream(live, await begin(live, request, asked), options)
    return chatStream(live, await settle(live, request), options, { isSeen: untilResolved([...decisions, ...results]) })
  })
  app.get('/chat/stream', async (c) => {
    const run = await c.env.live.currentRun()
    if (run === undefined) return c.body(null, 204)
    options.streams.assertRoom(c.env.live.caller)
    return chatStream(c.env.live, run, options, { restate: true })
  })
  app.get('/chat/turns', (c) => {
    const { live } = c.env
    options.streams.assertRoom(live.caller)
    const closed = new AbortController()
    return eventStream(live.follow(closed.signal), { ...options, live }, { writer: turnFrames(), onClose: () => closed.abort() })
  })
}

interface ChatStream {
  isSeen?: IsSeen
  /** For a client that has none of the answer. */
  restate?: boolean
}

async function chatStream(
  live: LiveSession,
  run: AgentRun,
  options: SessionRouteOptions,
  { isSeen, restate = false }: ChatStream = {},
): Promise<Response> {
  const media = new LinkedMedia(live, options.mediaBase)
  const history = await media.messages(live.historyBefore(run))
  const encoder = uiMessageEncoder({ history, restate })
  return eventStream(
    run,
    { ...options, live },
    { writer: uiMessageFrames(encoder, isSeen), headers: uiMessageStreamHeaders, waits: waitsForPerson(run), tell: media.tell },
  )
}

/** What is said last may have files that this session keeps. */
async function withOwnMedia(body: JsonObject, media: LinkedMedia): Promise<JsonObject> {
  const { messages } = body
  if (!Array.isArray(messages)) return body
  const last = await media.ownIn(messages.at(-1))
  return last === messages.at(-1) ? body : ({ ...body, messages: [...messages.slice(0, -1), last] } as JsonObject) // parts of JSON
}

type Asked = ReturnType<typeof askedIn>

/** Begins the run that a request asks for. What the page knows by an id that the session never had is new. */
async function begin(live: LiveSession, { trigger, message, messageId }: ChatRequest, asked: Asked): Promise<AgentRun> {
  const { messages } = await live.agent()
  const known = [messageId, message?.id].find((id) => id !== undefined && messages.some((each) => each.id === id))
  if (trigger === 'regenerate-message') {
    if (known !== undefined) return beginForPerson(live, (agent) => agent.regenerate({ messageId: known, ...asked(agent) }))
    if (message === undefined || (await live.recorded.wasSaid(message.id))) refuseStale()
  }
  if (message === undefined) refuseStale()
  // Also what was sent before and whose answer was lost: it is not said twice.
  const said = messages.find(({ id }) => id === (messageId ?? message.id))
  if (said?.role === 'user') return beginForPerson(live, (agent) => agent.editAndResend(said.id, message, asked(agent)))
  return beginForPerson(live, (agent) => agent.prompt(message, asked(agent)))
}

function refuseStale(): never {
  refuse(409, 'nothingToContinue', 'This message is no longer part of the conversation, which has gone on elsewhere. Reload the page.')
}
