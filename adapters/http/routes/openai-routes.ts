import type { Agent, AgentRun } from '../../../src/index.ts'
import { type CallerRequest, readCompletionRequest, readResponseRequest } from '../../../src/ui/openai/index.ts'
import { readJsonObject } from '../access/body.ts'
import { refuse } from '../access/problem.ts'
import { beginForPerson } from '../live/begin-for-person.ts'
import { decideOrJoin } from '../live/decide.ts'
import type { LiveSession } from '../live/live-session.ts'
import type { Place } from '../live/live-session-host.ts'
import { untilResolved } from '../live/settle.ts'
import { accepted, answerForCaller, callerSettings } from '../openai/caller-request.ts'
import { type Answering, chatAnswer, responseAnswer } from '../openai/openai-answer.ts'
import { OpenAiRefusal, refusalResponse } from '../openai/openai-error.ts'
import { keyOf, withKey } from './prompt-body.ts'
import type { SessionApp, SessionContext, SessionRouteOptions } from './route-options.ts'
import { runOf } from './run-of.ts'

/**
 * What clients of OpenAI's APIs ask of a conversation that is kept: `createOpenAiApp` sends them here.
 *
 * **Contract**
 * - Of the messages of a request only what stands after the last answer is heard, and only if a user says it.
 * - A client that leaves stops nothing. Chat completions have no words for a question: what needs approval is denied.
 *
 * Source: docs/openai-endpoint.md
 */
export function addOpenAiRoutes(app: SessionApp, options: SessionRouteOptions): void {
  app.post('/openai/chat/completions', (c) =>
    inTheirWords(async () => {
      const request = accepted(readCompletionRequest(await readJsonObject(c, options.body)))
      const run = await begin(c, request, options, {})
      answerForCaller(run, { canApprove: false })
      return chatAnswer(request, answering(c.env.live, run, options))
    }),
  )
  app.post('/openai/responses', (c) =>
    inTheirWords(async () => {
      const request = accepted(readResponseRequest(await readJsonObject(c, options.body)))
      const { decisions, place } = request
      options.streams.assertRoom(c.env.live.caller)
      if (decisions.length === 0) {
        const run = await begin(c, request, options, place?.loopId === undefined ? {} : { from: place.loopId })
        answerForCaller(run, { canApprove: true })
        return responseAnswer(request, answering(c.env.live, run, options))
      }
      const run = await decideOrJoin(c.env.live, decisions)
      answerForCaller(run, { canApprove: true })
      // What is said besides comes after what was decided.
      const said = newUserMessages(request)
      if (said.length > 0) await run.followUp(said).stored.catch(() => undefined)
      return responseAnswer(request, { ...answering(c.env.live, run, options), isSeen: untilResolved(decisions) })
    }),
  )
}

function answering(live: LiveSession, run: AgentRun, options: SessionRouteOptions): Answering {
  return { run, isStored: true, streaming: { ...options, live } }
}

/** Begins the run that a request asks for; with an `Idempotency-Key` once for that key. */
async function begin(c: SessionContext, request: CallerRequest, options: SessionRouteOptions, place: Place): Promise<AgentRun> {
  const { live } = c.env
  const settings = callerSettings(request, options.clientSettings)
  const { responseFormat, tools } = request
  if (tools.length > 0)
    refuse(400, 'invalidBody', 'Where a conversation is kept, callers bring no tools. Send the whole conversation with each request.')
  options.streams.assertRoom(live.caller)
  const key = keyOf(c)
  const input = withKey(newUserMessages(request), key)
  const prompt = (agent: Agent) => agent.prompt(input, { ...settings, ...(responseFormat !== undefined && { responseFormat }) })
  if (key !== undefined) return runOf(live, await live.startOnce(key, prompt, place))
  return place.from === undefined ? beginForPerson(live, prompt) : live.start(prompt, place)
}

function newUserMessages({ newest }: CallerRequest) {
  return newest.filter((message) => message.role === 'user')
}

/** What is refused in the words of OpenAI's API is answered so on every host. */
async function inTheirWords(answer: () => Promise<Response>): Promise<Response> {
  try {
    return await answer()
  } catch (error) {
    if (error instanceof OpenAiRefusal) return refusalResponse(error)
    throw error
  }
}
