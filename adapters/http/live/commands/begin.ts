import type { MessageInput } from '../../../../src/contract/message/message.ts'
import { type Agent, AgentBusyError, type AgentRun } from '../../../../src/index.ts'
import { refuse } from '../../access/problem.ts'
import type { AboutRun, BeginCommands, GatewayCommand } from '../gateway/gateway-command.ts'
import { runOf } from '../gateway/run-events.ts'
import type { LiveSession } from '../live-session.ts'
import { askedOf } from './client-ask.ts'
import { answerUnattended } from './unattended.ts'

/** Starts the run of a command, once per key. Throws as `RunStarter.begin` and `runOf`. */
export async function begin(live: LiveSession, command: GatewayCommand<keyof BeginCommands>): Promise<AboutRun> {
  const run = await begun(live, command, startOf(command))
  if (command.type === 'prompt' && command.unattended !== undefined) answerUnattended(run, command.unattended)
  return about(run)
}

/** Returns the description of a run for a response. */
export function about({ loopId, id }: AgentRun): AboutRun {
  return { loopId, runId: id }
}

/**
 * Uses the key as the id of the last message: so the client knows it in advance, and the log can recognize a retry after a
 * restart.
 */
export function withKey(messages: readonly MessageInput[], key: string | undefined): MessageInput[] {
  return messages.map((message, at) => (key !== undefined && at === messages.length - 1 ? { ...message, id: key } : message))
}

async function begun(
  live: LiveSession,
  command: GatewayCommand<keyof BeginCommands>,
  start: (agent: Agent) => AgentRun,
): Promise<AgentRun> {
  const { key, from } = command
  const place = from === undefined ? {} : { from }
  if (key !== undefined) return runOf(live, { loopId: await live.starts.once(key, start, place) })
  return command.type === 'prompt' && command.forPerson === true ? beginForPerson(live, start) : live.starts.begin(start, place)
}

/** Returns how a command starts its run. */
function startOf(command: GatewayCommand<keyof BeginCommands>): (agent: Agent) => AgentRun {
  switch (command.type) {
    case 'prompt':
    case 'send':
      return (agent) => agent[command.type](withKey(command.messages, command.key), askedOf(command.ask, agent))
    case 'edit':
      return (agent) => agent.editAndResend(command.messageId, withKey(command.messages, command.key), askedOf(command.ask, agent))
    case 'branch': {
      const kind = { kind: 'branch' as const, tag: command.tag }
      return (agent) => agent.prompt(withKey(command.messages, command.key), { ...askedOf(command.ask, agent), kind })
    }
    case 'continue':
      return (agent) => agent.continueLoop(askedOf(command.ask, agent))
    case 'regenerate': {
      const { messageId } = command
      return (agent) => agent.regenerate({ ...askedOf(command.ask, agent), ...(messageId !== undefined && { messageId }) })
    }
    case 'compact': {
      const { focusMessage } = command
      return (agent) => agent.compact(focusMessage === undefined ? {} : { focusMessage })
    }
  }
}

/**
 * Starts a run for a client that shows a refusal to its user: the message says what to do, in plain words. Starts it once per
 * key. Refuses with 409 `busy`, and as `runOf`.
 */
export async function beginForPerson(live: LiveSession, begin: (agent: Agent) => AgentRun, key?: string): Promise<AgentRun> {
  try {
    return key === undefined ? await live.starts.begin(begin) : await runOf(live, { loopId: await live.starts.once(key, begin) })
  } catch (error) {
    if (!AgentBusyError.isInstance(error)) throw error
    return refuseBusy(live)
  }
}

/** Refuses with 409 `busy` and says what a user can do. */
export async function refuseBusy(live: LiveSession): Promise<never> {
  const run = await live.currentRun()
  const isAsked = (run?.pendingApprovals() ?? []).length > 0
  const isForPage = (run?.pendingClientCalls() ?? []).length > 0
  refuse(
    409,
    'busy',
    isAsked
      ? 'The assistant waits for a decision of yours. Allow or deny what it asks for, or stop it; then send this again.'
      : isForPage
        ? 'The assistant waits for something that a page of yours does. Open it, or stop the answer; then send this again.'
        : 'The assistant is still answering. Wait for the end of its answer, or stop it; then send this again.',
  )
}
