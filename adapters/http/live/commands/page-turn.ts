import { callsToAnswer, isReport, lastPromptIndex } from '../../../../src/contract/message/message.ts'
import { type Agent, type AgentMessage, type AgentRun, ConfigError, type UserMessage } from '../../../../src/index.ts'
import { messagesWithBytes } from '../../../../src/session.ts'
import { ProblemError, refuse } from '../../access/problem.ts'
import type { PageAnswer, PageTurn } from '../gateway/gateway-command.ts'
import type { LiveSession } from '../live-session.ts'
import type { CallRef } from './asked-calls.ts'
import { about, beginForPerson } from './begin.ts'
import { askedOf } from './client-ask.ts'
import { isSameContent } from './page-runs.ts'
import { resolvedIn, settleCalls } from './settle.ts'

type OwnMessage = UserMessage & { id: string }
type Content = UserMessage['content']

/** Nothing to stream: the history is complete. */
const inHistory: PageAnswer = { isJoined: true }

/**
 * Handles a request of a client that uses its own message ids: first decisions and results, then a prompt or a regenerated
 * response.
 *
 * **Contract**
 * - A repeated message with the same content joins its active run, and reads the history once that has completed. After a run
 *   that failed, was aborted or interrupted it continues, once per key: tools do not run again, and a complete response stays.
 * - A known id with other content is an edit.
 * - Refuses with 409 `nothingToContinue` what is no longer part of the conversation, with 409 `busy` as `beginForPerson`, and as
 *   `settleCalls`.
 */
export async function takeTurn(live: LiveSession, turn: PageTurn): Promise<PageAnswer> {
  const { message, decisions, results, answer, isNumbered } = turn
  if (turn.isAgain) return answerAgain(live, turn)
  if (decisions.length + results.length === 0) return message === undefined ? join(live) : say(live, message, turn)
  const fresh = message === undefined || (await stored(live, message.id)) !== undefined ? {} : { message }
  const settled = await settleCalls(live, { decisions, results, answer, isNumbered, ...fresh })
  if (message === undefined) {
    if (settled === undefined) return joinLate(live, [...decisions, ...results])
    return {
      run: about(settled.run),
      isJoined: false,
      since: [...settled.accepted, ...resolvedIn(live, settled.run, [...decisions, ...results])],
    }
  }
  if (settled?.isHeard === true) return { run: about(settled.run), isJoined: false, replyTo: message.id }
  // The run ended with the results, so the message starts another one.
  if (settled !== undefined && fresh.message !== undefined) await settled.run.result
  return say(live, message, turn)
}

/** Returns the active or last run. Refuses with 409 `nothingToContinue` if the session has no messages. */
async function join(live: LiveSession): Promise<PageAnswer> {
  const run = await live.latestRun()
  if (run !== undefined) return { run: about(run), isJoined: true }
  if (await live.recorded.isKnown()) return inHistory
  refuse(409, 'nothingToContinue', 'No run is on. Send a message of the user with a new id.')
}

/** Returns the run that continues after another client has settled the calls, if any. */
async function joinLate(live: LiveSession, answered: readonly CallRef[]): Promise<PageAnswer> {
  const run = await live.continuedRun()
  if (run === undefined) return inHistory
  const since = resolvedIn(live, run, answered)
  if (since.length > 0) return { run: about(run), isJoined: true, since }
  const before = live.historyBefore(run)
  const last = before.slice(lastPromptIndex(before) + 1)
  const made = last.flatMap((message) => (message.role === 'assistant' ? callsToAnswer(message.content) : []))
  return answered.some(({ toolCallId }) => made.some(({ id }) => id === toolCallId)) ? { run: about(run), isJoined: true } : inHistory
}

/** Sends a prompt, unless the session has it already. */
async function say(live: LiveSession, message: OwnMessage, turn: Pick<PageTurn, 'messageId' | 'ask' | 'key'>): Promise<PageAnswer> {
  const { messageId, ask, key } = turn
  const known = await stored(live, message.id)
  const recorded = known === undefined ? undefined : await contentOf(live, known)
  const edited = known ?? (messageId === undefined ? undefined : await stored(live, messageId))
  // No await from here on: two equal requests may arrive at once.
  const begun = live.pageRuns.of(message.id)
  const content = begun?.content ?? recorded
  if (content !== undefined && isSameContent(content, message.content)) {
    if (known !== undefined) return repeat(live, { of: message.id, ask, key })
    // A message that a filter or a limit returned was never accepted.
    if (begun?.isOver === false) return joined(begun.run)
  }
  const begin = (agent: Agent): AgentRun =>
    edited === undefined ? agent.prompt(message, askedOf(ask, agent)) : agent.editAndResend(edited.id, message, askedOf(ask, agent))
  return started(live, { of: message.id, content: message.content, key, begin })
}

/** Regenerates a response. A repeated request joins its run. */
async function answerAgain(live: LiveSession, { message, messageId, ask, key }: PageTurn): Promise<PageAnswer> {
  const { messages } = await live.agent()
  const isKnown = (id: string | undefined) => id !== undefined && messages.some((each) => each.id === id)
  const target = [messageId, message?.id].find(isKnown)
  // Already regenerated: its response is no longer part of the conversation.
  const isReplaced = target !== messageId && messageId !== undefined && (await live.recorded.hasUserMessage(messageId))
  const name = `again ${messageId ?? message?.id}`
  const begun = live.pageRuns.of(name)
  if (begun?.isOver === false) return joined(begun.run)
  if (target === undefined) {
    if (message === undefined || (await live.recorded.hasUserMessage(message.id))) refuseStale()
    return say(live, message, { ask, key })
  }
  if (isReplaced && message !== undefined) return repeat(live, { of: message.id, ask, key })
  return started(live, { of: name, key, begin: (agent) => agent.regenerate({ messageId: target, ...askedOf(ask, agent) }) })
}

interface Repeat extends Pick<PageTurn, 'ask' | 'key'> {
  /** The user message to respond to. */
  of: string
}

/** Handles a repeated request. */
async function repeat(live: LiveSession, { of, ask, key }: Repeat): Promise<PageAnswer> {
  const begun = live.pageRuns.of(of)
  const on = await live.continuedRun()
  const isLatest = await isOfLastRun(live, of)
  if (on !== undefined) return isLatest ? { run: about(on), isJoined: true } : inHistory
  if (!isLatest || !(await live.recorded.hasFailed())) return inHistory
  // Two equal requests may arrive at once.
  if (live.pageRuns.of(of) !== begun) return repeat(live, { of, ask, key })
  try {
    return await started(live, { of, content: begun?.content, key, begin: (agent) => agent.continueLoop(askedOf(ask, agent)) })
  } catch (error) {
    // The response was complete before its run was.
    if (ConfigError.isInstance(error) && error.code === 'trailingAssistant') return inHistory
    throw error
  }
}

interface Start {
  of: string
  content?: readonly Content[number][] | undefined
  key: string | undefined
  begin: (agent: Agent) => AgentRun
}

/** Starts a run, once per key. Concurrent equal requests join it. */
async function started(live: LiveSession, { of, content, key, begin }: Start): Promise<PageAnswer> {
  let isJoined = true
  const first = (agent: Agent): AgentRun => {
    const run = begin(agent)
    isJoined = false
    return run
  }
  const run = live.pageRuns.begin(of, content, () => beginForPerson(live, first, key))
  const answer = await joined(run)
  return answer.run === undefined ? answer : { ...answer, isJoined }
}

/** Returns the run of an earlier request. If its events were released, the history has its result. */
async function joined(run: Promise<AgentRun>): Promise<PageAnswer> {
  try {
    return { run: about(await run), isJoined: true }
  } catch (error) {
    if (error instanceof ProblemError && error.problem.code === 'gone') return inHistory
    throw error
  }
}

async function stored(live: LiveSession, id: string): Promise<(AgentMessage & { role: 'user' }) | undefined> {
  const found = (await live.agent()).messages.find((message) => message.id === id)
  return found?.role === 'user' ? found : undefined
}

/** Returns the content with the bytes of its media. */
async function contentOf({ store, sessionId }: LiveSession, message: AgentMessage & { role: 'user' }): Promise<Content> {
  const [whole] = await messagesWithBytes(store, sessionId, [message])
  return whole?.role === 'user' ? whole.content : message.content
}

/** Returns whether all later messages went to the run that responds to this one. */
async function isOfLastRun(live: LiveSession, id: string): Promise<boolean> {
  const { messages } = await live.agent()
  const since = messages.slice(messages.findIndex((message) => message.id === id) + 1)
  const prompts = since.filter((message) => message.role === 'user' && !isReport(message))
  return prompts.length === 0 || live.recorded.wereQueued(new Set(prompts.map((message) => message.id)))
}

function refuseStale(): never {
  refuse(409, 'nothingToContinue', 'This message is no longer part of the conversation, which has gone on elsewhere. Reload the page.')
}
