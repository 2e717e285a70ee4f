import { callsToAnswer, isReport, lastPromptIndex } from '../../../../src/contract/message/message.ts'
import { type AgentMessage, type AgentRun, ConfigError, type UserMessage } from '../../../../src/index.ts'
import { messagesWithBytes } from '../../../../src/session.ts'
import { ProblemError, refuse } from '../../access/problem.ts'
import type { PageAnswer, PageTurn } from '../gateway/gateway-command.ts'
import type { LiveSession } from '../live-session.ts'
import type { StartContext } from '../run-context.ts'
import type { StartRun } from '../run-starter.ts'
import type { CallRef } from './asked-calls.ts'
import { about, beginForPerson } from './begin.ts'
import { askedOf } from './client-ask.ts'
import { isSameContent } from './page-runs.ts'
import { resolvedIn, settleCalls } from './settle.ts'

type OwnMessage = UserMessage & { id: string }
type Content = UserMessage['content']

/** The result if there is nothing to stream, because the history is complete. */
const inHistory: PageAnswer = { isJoined: true }

/**
 * Handles a request from a client that assigns message ids: first decisions and results, then a prompt or a regenerated response.
 *
 * **Contract**
 * - A repeated message with the same content joins its active run, or reads the history if the run has completed. If the run failed, was
 *   aborted or was interrupted, continues it once per key, without repeating tools or a complete response.
 * - A known id with different content is an edit.
 * - Rejects with 409 `nothingToContinue` for messages that are no longer part of the conversation, with 409 `busy` like `beginForPerson`,
 *   and like `settleCalls`.
 */
export async function takeTurn(live: LiveSession, asked: PageTurn, start?: StartContext): Promise<PageAnswer> {
  const turn = { ...asked, start }
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
  // The run ended with the results, so the message starts another run.
  if (settled !== undefined && fresh.message !== undefined) await settled.run.result
  return say(live, message, turn)
}

/** Returns the active or last run. Rejects with 409 `nothingToContinue` if the session has no messages. */
async function join(live: LiveSession): Promise<PageAnswer> {
  const run = await live.latestRun()
  if (run !== undefined) return { run: about(run), isJoined: true }
  if (await live.recorded.isKnown()) return inHistory
  refuse(409, 'nothingToContinue', 'No run is active. Send a user message with a new id.')
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

/** Sends a prompt, unless the session already contains it. */
async function say(live: LiveSession, message: OwnMessage, turn: Started<'messageId' | 'ask' | 'key'>): Promise<PageAnswer> {
  const { messageId, ask, key, start } = turn
  const known = await stored(live, message.id)
  const recorded = known === undefined ? undefined : await contentOf(live, known)
  const edited = known ?? (messageId === undefined ? undefined : await stored(live, messageId))
  // Do not await after this line, because two equal requests may arrive concurrently.
  const begun = live.pageRuns.of(message.id)
  const content = begun?.content ?? recorded
  if (content !== undefined && isSameContent(content, message.content)) {
    if (known !== undefined) return repeat(live, { of: message.id, ask, key, start })
    // A message that a filter or a limit returned was never accepted.
    if (begun?.isOver === false) return joined(begun.run)
  }
  const begin: StartRun = (agent, own) => {
    const options = { ...askedOf(ask, agent), ...own }
    return edited === undefined ? agent.prompt(message, options) : agent.editAndResend(edited.id, message, options)
  }
  return started(live, { of: message.id, content: message.content, key, begin, start })
}

/** Regenerates a response. A repeated request joins its run. */
async function answerAgain(
  live: LiveSession,
  { message, messageId, ask, key, start }: Started<'message' | 'messageId' | 'ask' | 'key'>,
): Promise<PageAnswer> {
  const { messages } = await live.agent()
  const isKnown = (id: string | undefined) => id !== undefined && messages.some((each) => each.id === id)
  const target = [messageId, message?.id].find(isKnown)
  // Another request regenerated the response, so the original is no longer part of the conversation.
  const isReplaced = target !== messageId && messageId !== undefined && (await live.recorded.hasUserMessage(messageId))
  const name = `again ${messageId ?? message?.id}`
  const begun = live.pageRuns.of(name)
  if (begun?.isOver === false) return joined(begun.run)
  if (target === undefined) {
    if (message === undefined || (await live.recorded.hasUserMessage(message.id))) refuseStale()
    return say(live, message, { ask, key, start })
  }
  if (isReplaced && message !== undefined) return repeat(live, { of: message.id, ask, key, start })
  const begin: StartRun = (agent, own) => agent.regenerate({ messageId: target, ...askedOf(ask, agent), ...own })
  return started(live, { of: name, key, begin, start })
}

/** Fields of a turn, and the context of the run that it starts. */
type Started<Name extends keyof PageTurn> = Pick<PageTurn, Name> & { start: StartContext | undefined }

interface Repeat extends Started<'ask' | 'key'> {
  /** The user message to respond to. */
  of: string
}

/** Handles a repeated request. */
async function repeat(live: LiveSession, { of, ask, key, start }: Repeat): Promise<PageAnswer> {
  const begun = live.pageRuns.of(of)
  const on = await live.continuedRun()
  const isLatest = await isOfLastRun(live, of)
  if (on !== undefined) return isLatest ? { run: about(on), isJoined: true } : inHistory
  if (!isLatest || !(await live.recorded.hasFailed())) return inHistory
  // Two equal requests may arrive concurrently.
  if (live.pageRuns.of(of) !== begun) return repeat(live, { of, ask, key, start })
  try {
    const begin: StartRun = (agent, own) => agent.continueLoop({ ...askedOf(ask, agent), ...own })
    return await started(live, { of, content: begun?.content, key, begin, start, continues: true })
  } catch (error) {
    // The response was completed before its run ended.
    if (ConfigError.isInstance(error) && error.code === 'trailingAssistant') return inHistory
    throw error
  }
}

interface Start {
  of: string
  content?: readonly Content[number][] | undefined
  key: string | undefined
  begin: StartRun
  start: StartContext | undefined
  continues?: true
}

/** Starts a run, once per key. Concurrent equal requests join it. */
async function started(live: LiveSession, { of, content, key, begin, ...place }: Start): Promise<PageAnswer> {
  let isJoined = true
  const first: StartRun = (agent, own) => {
    const run = begin(agent, own)
    isJoined = false
    return run
  }
  const run = live.pageRuns.begin(of, content, () => beginForPerson(live, first, place, key))
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

/** Returns the content with media bytes. */
async function contentOf({ store, sessionId }: LiveSession, message: AgentMessage & { role: 'user' }): Promise<Content> {
  const [whole] = await messagesWithBytes(store, sessionId, [message])
  return whole?.role === 'user' ? whole.content : message.content
}

/** Returns whether all later messages were queued for the run that responds to this message. */
async function isOfLastRun(live: LiveSession, id: string): Promise<boolean> {
  const { messages } = await live.agent()
  const since = messages.slice(messages.findIndex((message) => message.id === id) + 1)
  const prompts = since.filter((message) => message.role === 'user' && !isReport(message))
  return prompts.length === 0 || live.recorded.wereQueued(new Set(prompts.map((message) => message.id)))
}

function refuseStale(): never {
  refuse(
    409,
    'nothingToContinue',
    'This message is no longer part of the conversation, which continued in another client. Reload the page.',
  )
}
