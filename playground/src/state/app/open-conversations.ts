import { computed, type ReadonlySignal, signal } from '@preact/signals'
import type { Settings } from '../../settings/settings.ts'
import type { Conversation } from '../conversation/conversation.ts'
import { runWords } from '../log/run-words.ts'

/** A background conversation's status. `done` and `notDone` mean that it ended since it was last shown. */
export interface Activity {
  kind: 'running' | 'needsYou' | 'done' | 'notDone'
  word: string
}

/** Whether it waits for the user. */
export const asksWord = 'Needs you'

/** A conversation that runs in the background, and its place. */
export interface Hidden {
  conversation: Conversation
  settings: Settings
}

/** Open conversations. Busy ones stay open when another conversation is shown. */
export interface OpenConversations {
  /** By session, including the current conversation. */
  activity: ReadonlySignal<ReadonlyMap<string, Activity>>
  hidden(sessionId: string): Hidden | undefined
  hide(hidden: Hidden): void
  /** Removes a conversation that is shown again or is over. */
  take(sessionId: string): void
  /** Records that a run ended unseen. */
  ended(sessionId: string, how: Activity): void
  seen(sessionId: string): void
  hiddenOnes(): Conversation[]
}

export function openConversations(current: ReadonlySignal<Conversation>): OpenConversations {
  const hidden = signal<ReadonlyMap<string, Hidden>>(new Map())
  const unseen = signal<ReadonlyMap<string, Activity>>(new Map())

  const activity = computed(() => {
    const all = new Map<string, Activity>(unseen.value)
    for (const conversation of [current.value, ...[...hidden.value.values()].map((one) => one.conversation)]) {
      const doing = activityOf(conversation)
      if (doing !== undefined) all.set(conversation.sessionId, doing)
    }
    return all
  })

  return {
    activity,
    hidden: (sessionId) => hidden.value.get(sessionId),
    hide(one) {
      hidden.value = new Map([...hidden.value, [one.conversation.sessionId, one]])
    },
    take(sessionId) {
      hidden.value = without(hidden.value, sessionId)
    },
    ended(sessionId, how) {
      unseen.value = new Map([...unseen.value, [sessionId, how]])
    },
    seen(sessionId) {
      unseen.value = without(unseen.value, sessionId)
    },
    hiddenOnes: () => [...hidden.value.values()].map(({ conversation }) => conversation),
  }
}

/** Returns whether a conversation is running or waiting for the user. */
export function isBusy({ chat, race, isSending }: Conversation): boolean {
  return chat.agent.currentRun !== undefined || race.value?.isRunning === true || isSending.value
}

function activityOf({ state, race, chat }: Conversation): Activity | undefined {
  const { status, approvals, inputs } = state.value
  if (approvals.length > 0 || inputs.length > 0) return { kind: 'needsYou', word: asksWord }
  const isRunning = status === 'running' || race.value?.isRunning === true
  return isRunning ? { kind: 'running', word: chat.connection?.value ?? runWords.running } : undefined
}

function without<Value>(map: ReadonlyMap<string, Value>, key: string): ReadonlyMap<string, Value> {
  return map.has(key) ? new Map([...map].filter(([other]) => other !== key)) : map
}
