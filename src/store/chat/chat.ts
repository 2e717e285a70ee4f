import type { AgentMessage, PromptInput } from '../../contract/message/message.ts'
import { checkOptions } from '../../contract/shape/read.ts'
import { aFunction, options as optionsOf, withMethods } from '../../contract/shape/shape.ts'
import type { ChatAgent } from '../../types/run/chat-agent.ts'
import type { DataTypes } from '../../types/run/data.ts'
import type { AgentRun } from '../../types/run/run.ts'
import type { ToolTypesByName } from '../../types/tool/typed-tool.ts'
import { restoredState } from '../restored-state.ts'
import type { RunState } from '../state.ts'
import { aSmoothing, createStore, type Store, type StoreOptions, stateBeforeRun } from '../store.ts'
import type { ChatActions, ChatBranch, ChatError, ChatPart, ChatState } from './chat-state.ts'
import { Show } from './show.ts'
import { answerAt, branchAt, decide, errorOf, lastLoopOf, partingOf, Queue, type SomeAgent, taken } from './talk.ts'

/** A conversation for user interfaces of any framework. */
export interface Chat<Part = ChatPart, Data extends DataTypes = DataTypes> {
  readonly agent: ChatAgent
  /** The same actions as in the state, for code that does not render the state. */
  readonly actions: ChatActions
  /** Returns the state: the same object until something changes. */
  getSnapshot(): ChatState<Part, Data>
  /** Returns the state as it was before the first subscription, for server-side rendering and hydration. */
  getServerSnapshot(): ChatState<Part, Data>
  /**
   * Calls `listener` after each change and returns a function that unsubscribes. The chat follows the agent while it has listeners. A
   * listener must not throw.
   */
  subscribe(listener: () => void): () => void
}

/** Phantom properties with the types of tools and data, for type inference. Never set at runtime. */
export interface WithTypes<Tools extends ToolTypesByName, Data extends DataTypes> {
  readonly '~tools'?: Tools
  readonly '~data'?: Data
}

/** A local or remote agent, or its chat, with the types of tools and data if known. */
export type ChatSource<Tools extends ToolTypesByName = ToolTypesByName, Data extends DataTypes = DataTypes> = (ChatAgent | Chat) &
  WithTypes<Tools, Data>

/** Options for `createChat`: when to notify listeners, and the pace of streamed text. */
export type CreateChatOptions = Pick<StoreOptions, 'schedule' | 'smooth'>

/** The agent methods that a chat uses. */
const aChatAgent = withMethods('an Agent or a remote session', 'prompt', 'subscribe', 'pendingApprovals')
const createOptions = optionsOf<CreateChatOptions>({ schedule: aFunction, smooth: aSmoothing })

/**
 * Creates a chat for an `Agent` or a `remoteSession`. The React, Vue, Svelte and Solid bindings and the web components share its state and
 * actions.
 *
 * **Contract**
 * - Follows the agent while there are listeners, or during a run that this chat started. Server-side rendering never subscribes. The first
 *   subscription loads a remote session.
 * - A delta replaces only the part, its message and the list, so that selectors can compare all other objects by identity.
 * - The state's `error` contains the last failure until the next action.
 *
 * Source: docs/guides/frameworks.md
 */
export function createChat<Tools extends ToolTypesByName = ToolTypesByName, Data extends DataTypes = DataTypes>(
  agent: ChatAgent & WithTypes<Tools, Data>,
  options: CreateChatOptions = {},
): Chat<ChatPart<Tools>, Data> & WithTypes<Tools, Data> {
  checkOptions(agent, aChatAgent, 'agent')
  checkOptions(options, createOptions)
  return typed(new LiveChat(agent, options))
}

const chats = new WeakMap<ChatAgent, Chat>()

/** Returns the agent's chat, created on the first call and shared by all components. */
export function chatOf<Tools extends ToolTypesByName = ToolTypesByName, Data extends DataTypes = DataTypes>(
  source: ChatSource<Tools, Data>,
): Chat<ChatPart<Tools>, Data> {
  if (isChat(source)) return typed(source)
  let chat = chats.get(source)
  if (chat === undefined) {
    checkOptions(source, aChatAgent, 'agent')
    chat = new LiveChat(source, {})
    chats.set(source, chat)
  }
  return typed(chat)
}

function isChat(source: ChatAgent | Chat): source is Chat {
  return typeof source === 'object' && source !== null && 'getSnapshot' in source
}

/** Casts the types, which the caller declares. The agent validates arguments and data when they are sent. */
function typed<Tools extends ToolTypesByName, Data extends DataTypes>(chat: Chat): Chat<ChatPart<Tools>, Data> {
  return chat as unknown as Chat<ChatPart<Tools>, Data>
}

class LiveChat implements Chat {
  readonly agent: SomeAgent
  readonly actions: ChatActions = this.#makeActions()
  readonly #options: CreateChatOptions
  readonly #listeners = new Set<() => void>()
  readonly #show = new Show()
  readonly #queue: Queue
  /** Snapshot at the first subscription. `getServerSnapshot` returns it. */
  #first: ChatState | undefined
  #store: Store | undefined
  #run: RunState
  #isLoading: boolean
  #isOpen = false
  /** Active runs that this chat started. The chat follows each until it ends, even without listeners. */
  #begun = 0
  #branches: readonly ChatBranch[] = []
  #error: ChatError | undefined
  /** The last message when the state was created. */
  #last: AgentMessage | undefined
  #state: ChatState

  constructor(agent: ChatAgent, options: CreateChatOptions) {
    this.agent = agent
    this.#options = options
    this.#queue = new Queue(agent, () => this.#publish())
    this.#isLoading = this.#lacksHistory
    this.#run = stateBeforeRun(agent)
    this.#state = this.#look()
  }

  getSnapshot = (): ChatState => {
    if (!this.#isOpen && this.agent.messages.at(-1) !== this.#last) {
      // The history changed while there was no listener.
      this.#run = stateBeforeRun(this.agent)
      this.#state = this.#look()
    }
    return this.#state
  }

  // Servers have no listeners. In the browser, every component first renders the server's state, even if it mounts later.
  getServerSnapshot = (): ChatState => this.#first ?? this.getSnapshot()

  subscribe = (listener: () => void): (() => void) => {
    const heard = () => listener()
    this.#listeners.add(heard)
    this.#settleSoon()
    return () => {
      this.#listeners.delete(heard)
      this.#settleSoon()
    }
  }

  // Following the agent

  /**
   * Opens or closes in a microtask. A component that unsubscribes immediately, as in server-side rendering, does not contact the agent. A
   * component that resubscribes in the same task misses nothing.
   */
  #settleSoon(): void {
    queueMicrotask(() => {
      const isWanted = this.#listeners.size + this.#begun > 0
      if (isWanted && !this.#isOpen) void this.#open()
      if (!isWanted && this.#isOpen) this.#close()
    })
  }

  get #lacksHistory(): boolean {
    return this.agent.load !== undefined && this.agent.messages.length === 0 && this.agent.currentRun === undefined
  }

  async #open(): Promise<void> {
    this.#first ??= this.getSnapshot()
    this.#isOpen = true
    if (this.#lacksHistory) await this.#load()
    if (this.#isOpen) this.#follow()
  }

  async #load(options?: { loopId?: string }): Promise<void> {
    this.#isLoading = true
    this.#publish()
    try {
      await this.agent.load?.(options)
    } catch (error) {
      const shown = errorOf(error)
      // The session does not exist yet: its first prompt creates it.
      if (shown.code !== 'notFound' || options !== undefined) this.#error = shown
    }
    this.#isLoading = false
  }

  /** Continues from the current state if nothing has changed, because turns, notes and times exist only in events. */
  #follow(): void {
    this.#isLoading = false
    this.#store?.close()
    const isKnown = this.#run.live === undefined && this.#run.messages.at(-1)?.id === this.agent.messages.at(-1)?.id
    const store = createStore(this.agent, { ...this.#options, ...(isKnown && { initial: this.#run }) })
    this.#store = store
    const look = () => {
      // Ignore changes from a replaced store, which may still be reading its run.
      if (this.#store !== undefined && this.#store !== store) return
      this.#run = store.getSnapshot()
      this.#publish()
    }
    store.subscribe(look)
    this.#queue.find()
    look()
  }

  #close(): void {
    this.#isOpen = false
    this.#store?.close()
    this.#store = undefined
  }

  // Showing it

  #look(): ChatState {
    this.#last = this.agent.messages.at(-1)
    const run = this.#run
    const output = this.#store?.getOutput()
    const rejection = run.rejection === undefined ? undefined : { code: 'rejected', message: run.rejection }
    const error = this.#error ?? run.failure ?? rejection
    return {
      ...this.actions,
      ...this.#show.of(run),
      status: this.#isLoading ? 'loading' : run.status,
      ...{
        data: run.data,
        approvals: run.approvals,
        inputs: run.inputs,
        queue: this.#queue.waiting,
        branches: this.#branches,
        usage: run.usage,
        run,
      },
      ...(error !== undefined && { error }),
      ...(output !== undefined && { output }),
    }
  }

  #publish(): void {
    this.#state = this.#look()
    for (const listener of [...this.#listeners]) listener()
  }

  // Actions

  #makeActions(): ChatActions {
    return {
      send: (input, options) =>
        this.agent.currentRun === undefined ? this.#begin(() => this.agent.send(input, options)) : this.#say('followUp', input),
      steer: (input) => (this.agent.currentRun === undefined ? this.#begin(() => this.agent.send(input)) : this.#say('steer', input)),
      withdraw: (id) => this.#queue.withdraw(id),
      stop: () => this.agent.abort(),
      proceed: (options) => this.#begin(() => this.agent.continueLoop(options)),
      approve: async (request, approved) => void (await this.#attempt(() => decide(this.agent, request, { approved }))),
      deny: async (request, reason) => void (await this.#attempt(() => decide(this.agent, request, { denied: { reason } }))),
      answer: (request, answer) => void this.#attempt(async () => this.agent.currentRun?.answer(request, answer)),
      edit: (messageId, input, options) => {
        const at = this.agent.messages.findIndex(({ id }) => id === messageId)
        return this.#begin(() => this.agent.editAndResend(messageId, input, options), at)
      },
      regenerate: (options = {}) => this.#begin(() => this.agent.regenerate(options), answerAt(this.agent.messages, options.messageId)),
      goTo: (branchId) => this.#goTo(branchId),
      reload: () => this.#reload(),
    }
  }

  /** `leaving` is the index of the first message that the run replaces. */
  async #begin(start: () => AgentRun, leaving?: number): Promise<boolean> {
    const branch = leaving === undefined ? undefined : branchAt(this.agent.messages, leaving)
    const began = await this.#attempt(async () => {
      const run = start()
      this.#hear(run)
      if (branch !== undefined) this.#branches = [...this.#branches, branch]
      return taken(run)
    })
    return began ?? false
  }

  /** Follows the run to its end, even if no component is subscribed. */
  #hear(run: AgentRun): void {
    this.#begun += 1
    this.#settleSoon()
    void run.result.then(() => {
      this.#begun -= 1
      this.#settleSoon()
    })
  }

  async #say(kind: 'steer' | 'followUp', input: PromptInput): Promise<boolean> {
    return (await this.#attempt(() => this.#queue.say(kind, input))) ?? false
  }

  async #attempt<Value>(act: () => Promise<Value>): Promise<Value | undefined> {
    if (this.#error !== undefined) {
      this.#error = undefined
      this.#publish()
    }
    try {
      return await act()
    } catch (error) {
      this.#error = errorOf(error)
      this.#publish()
      return undefined
    }
  }

  async #goTo(branchId: string): Promise<void> {
    const chosen = this.#branches.find(({ id }) => id === branchId)
    if (chosen === undefined) return
    const { messages } = this.agent
    const left = branchAt(messages, partingOf(messages, chosen.messages))
    const loopId = lastLoopOf(chosen.messages)
    const went = await this.#attempt(async () => {
      if (this.agent.replaceMessages !== undefined) this.agent.replaceMessages(chosen.messages)
      else await this.agent.load?.({ ...(loopId !== undefined && { loopId }) })
      return true
    })
    if (went === undefined) return
    this.#branches = [...this.#branches.filter((branch) => branch !== chosen), ...(left === undefined ? [] : [left])]
    this.#startOver()
  }

  async #reload(): Promise<void> {
    this.#error = undefined
    if (this.agent.load !== undefined) await this.#load()
    this.#startOver()
  }

  /** Rebuilds the state from the agent's current messages. */
  #startOver(): void {
    this.#run = restoredState(this.agent.messages, this.agent.pendingApprovals(), this.agent.pendingClientCalls())
    if (this.#isOpen) this.#follow()
    else this.#publish()
  }
}
