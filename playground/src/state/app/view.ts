import { type ReadonlySignal, signal } from '@preact/signals'
import type { RunStatus } from '../../../../src/index.ts'
import type { Settings } from '../../settings/settings.ts'
import type { Conversation } from '../conversation/conversation.ts'
import { runWords } from '../log/run-words.ts'
import { whyEnded } from '../log/why-ended.ts'
import { type Activity, type Hidden, isBusy, openConversations } from './open-conversations.ts'

/** Which conversation is shown, and which go on out of sight: what runs belongs to its conversation, not to the view. */
export interface View {
  current: ReadonlySignal<Conversation>
  /** What runs, waits for a person, or has ended unseen, by session. */
  activity: ReadonlySignal<ReadonlyMap<string, Activity>>
  /** One that runs out of sight. */
  hidden(sessionId: string): Hidden | undefined
  /** All that are open here. */
  open(): readonly Conversation[]
  /** Shows a conversation. The one before goes on out of sight where something runs in it; else it is let go. */
  show(conversation: Conversation): void
  /** Shows a conversation of another place; `before` are the settings of the place that is left. */
  showElsewhere(conversation: Conversation, before: Settings): void
  /** Forgets one that is out of sight: it is over, or another tab has it. */
  drop(sessionId: string): void
  /** The run of one that nobody sees is over. */
  ended(conversation: Conversation, status: RunStatus): Promise<void>
}

interface Viewing {
  first: Conversation
  /** The settings that hold now. */
  settings: ReadonlySignal<Settings>
  onShow: (conversation: Conversation) => void
  /** One that was shown is let go: others may write to it from now on. */
  onLetGo: () => void
}

/** Conversations of a server that are heard out of sight; each holds a connection, and a browser has six. */
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

  /** What runs in it goes on. */
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
