import { type ReadonlySignal, signal } from '@preact/signals'
import type { RunStatus } from '../../../../src/index.ts'
import type { Settings } from '../../settings/settings.ts'
import type { Conversation } from '../conversation/conversation.ts'
import { runWords } from '../log/run-words.ts'
import { whyEnded } from '../log/why-ended.ts'
import { type Activity, type Hidden, isBusy, openConversations } from './open-conversations.ts'

/** The current conversation, and those that continue in the background. */
export interface View {
  current: ReadonlySignal<Conversation>
  /** Conversations that run, wait for the user, or have ended unseen, by session. */
  activity: ReadonlySignal<ReadonlyMap<string, Activity>>
  /** Returns a background conversation. */
  hidden(sessionId: string): Hidden | undefined
  /** Returns all of this page's open conversations. */
  open(): readonly Conversation[]
  /** Shows a conversation. The previous one continues in the background if it is busy. Otherwise it is closed. */
  show(conversation: Conversation): void
  /** Shows a conversation from another place. `before` contains the previous place's settings. */
  showElsewhere(conversation: Conversation, before: Settings): void
  /** Drops a background conversation that is over or owned by another tab. */
  drop(sessionId: string): void
  /** Called when an unseen run ends. */
  ended(conversation: Conversation, status: RunStatus): Promise<void>
}

interface Viewing {
  first: Conversation
  /** The current settings. */
  settings: ReadonlySignal<Settings>
  onShow: (conversation: Conversation) => void
  /** Called when a conversation has been released, so that others may write to it. */
  onLetGo: () => void
}

/** Maximum number of background conversations per server. Each uses a connection, and browsers allow six per server. */
const mostHidden = 3

export function createView({ first, settings, onShow, onLetGo }: Viewing): View {
  const current = signal(first)
  const others = openConversations(current)

  function show(conversation: Conversation): void {
    const before = current.value
    current.value = conversation
    others.take(conversation.sessionId)
    others.seen(conversation.sessionId)
    if (conversation !== before) release(before)
    onShow(conversation)
  }

  /** Keeps a busy conversation in the background, and closes any other. */
  function release(conversation: Conversation): void {
    const isShown = conversation.sessionId === current.value.sessionId
    const hasRoom = settings.value.place === 'tab' || others.activity.value.size < mostHidden
    if (isBusy(conversation) && !isShown && hasRoom) others.hide({ conversation, settings: settings.value })
    else void conversation.close().then(onLetGo)
  }

  function showElsewhere(conversation: Conversation, before: Settings): void {
    const left = current.value
    if (isBusy(left)) others.hide({ conversation: left, settings: before })
    else void left.close()
    current.value = conversation
    show(conversation)
  }

  async function ended(conversation: Conversation, status: RunStatus): Promise<void> {
    const { sessionId } = conversation
    if (others.hidden(sessionId)?.conversation !== conversation) return
    others.take(sessionId)
    const word = whyEnded(conversation.state.value, conversation.log.misfits.value)?.word ?? runWords[status]
    others.ended(sessionId, { kind: word === runWords.completed ? 'done' : 'notDone', word })
    await conversation.close()
  }

  return {
    ...{ current, activity: others.activity, hidden: others.hidden, drop: others.take },
    open: () => [current.value, ...others.hiddenOnes()],
    ...{ show, showElsewhere, ended },
  }
}
