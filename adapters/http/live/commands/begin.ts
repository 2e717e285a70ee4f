import type { MessageInput } from '../../../../src/contract/message/message.ts'
import { AgentBusyError, type AgentRun } from '../../../../src/index.ts'
import { refuse } from '../../access/problem.ts'
import type { AboutRun, BeginCommands, GatewayCommand } from '../gateway/gateway-command.ts'
import { runOf } from '../gateway/run-events.ts'
import type { LiveSession } from '../live-session.ts'
import type { StartContext } from '../run-context.ts'
import type { Beginning, StartRun } from '../run-starter.ts'
import { askedOf } from './client-ask.ts'
import { answerUnattended } from './unattended.ts'

/** Starts a command's run, once per key. Throws like `RunStarter.begin` and `runOf`. */
export async function begin(live: LiveSession, command: GatewayCommand<keyof BeginCommands>, start?: StartContext): Promise<AboutRun> {
  const run = await begun(live, command, start)
  if (command.type === 'prompt' && command.unattended !== undefined) answerUnattended(run, command.unattended)
  return about(run)
}

/** Returns a run's description for a response. */
export function about({ loopId, id }: AgentRun): AboutRun {
  return { loopId, runId: id }
}

/**
 * Uses the key as the last message's id, so that the client knows the id in advance and the log can recognize a retry after a restart.
 */
export function withKey(messages: readonly MessageInput[], key: string | undefined): MessageInput[] {
  return messages.map((message, at) => (key !== undefined && at === messages.length - 1 ? { ...message, id: key } : message))
}

/** Commands that continue a run and keep its context. */
const continuing: Partial<Record<keyof BeginCommands, Beginning['continues']>> = { continue: true, send: 'ifPending' }

async function begun(live: LiveSession, command: GatewayCommand<keyof BeginCommands>, start?: StartContext): Promise<AgentRun> {
  const { type, key, from } = command
  const place = { ...(from !== undefined && { from }), start, continues: continuing[type] ?? false, isCompaction: type === 'compact' }
  if (key !== undefined) return runOf(live, { loopId: await live.starts.once(key, startOf(command), place) })
  const forPerson = command.type === 'prompt' && command.forPerson === true
  return forPerson ? beginForPerson(live, startOf(command), place) : live.starts.begin(startOf(command), place)
}

/** Returns how a command starts its run. */
function startOf(command: GatewayCommand<keyof BeginCommands>): StartRun {
  switch (command.type) {
    case 'prompt':
    case 'send':
      return (agent, own) => agent[command.type](withKey(command.messages, command.key), { ...askedOf(command.ask, agent), ...own })
    case 'edit':
      return (agent, own) =>
        agent.editAndResend(command.messageId, withKey(command.messages, command.key), { ...askedOf(command.ask, agent), ...own })
    case 'branch': {
      const kind = { kind: 'branch' as const, tag: command.tag }
      return (agent, own) => agent.prompt(withKey(command.messages, command.key), { ...askedOf(command.ask, agent), ...own, kind })
    }
    case 'continue':
      return (agent, own) => agent.continueLoop({ ...askedOf(command.ask, agent), ...own })
    case 'regenerate': {
      const { messageId } = command
      return (agent, own) => agent.regenerate({ ...askedOf(command.ask, agent), ...own, ...(messageId !== undefined && { messageId }) })
    }
    case 'compact': {
      const { focusMessage } = command
      return (agent, own) => agent.compact({ ...own, ...(focusMessage !== undefined && { focusMessage }) })
    }
  }
}

/**
 * Starts a run, once per key, for a client that shows errors to its user. Error messages are written for end users. Rejects with 409
 * `busy`, and like `runOf`.
 */
export async function beginForPerson(live: LiveSession, begin: StartRun, place: Beginning, key?: string): Promise<AgentRun> {
  try {
    return key === undefined
      ? await live.starts.begin(begin, place)
      : await runOf(live, { loopId: await live.starts.once(key, begin, place) })
  } catch (error) {
    if (!AgentBusyError.isInstance(error)) throw error
    return refuseBusy(live)
  }
}

/** Rejects with 409 `busy` and a message that tells users what to do. */
export async function refuseBusy(live: LiveSession): Promise<never> {
  const run = await live.currentRun()
  const isAsked = (run?.pendingApprovals() ?? []).length > 0
  const isForPage = (run?.pendingClientCalls() ?? []).length > 0
  refuse(
    409,
    'busy',
    isAsked
      ? 'The assistant is waiting for your decision. Approve or deny the request, or stop the run, and then send the request again.'
      : isForPage
        ? 'The assistant is waiting for a result from one of your open pages. Open that page, or stop the run, and then send the request again.'
        : 'The assistant is still responding. Wait until it finishes or stop the run, and then send the request again.',
  )
}
