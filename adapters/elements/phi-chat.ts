import { type ClientTools, type RemoteSession, remoteSession, runClientTools } from '../../src/client.ts'
import { type Chat, type ChatSource, chatOf } from '../../src/store.ts'
import { type ChatOwner, ElementBase } from './chat-element.ts'
import { arrange, make } from './dom.ts'
import { english, type PhiChat, type Words } from './phi-chat-options.ts'

/**
 * The element `<phi-chat>`: message list, pending approvals and composer. Only this element has a shadow tree, so `phi-chat::part(…)` can style all parts.
 */
export class PhiChatElement extends ElementBase implements PhiChat, ChatOwner {
  static readonly observedAttributes = ['endpoint', 'session']
  readonly #watchers = new Set<() => void>()
  readonly #log = make('div', 'log', { role: 'log', tabindex: '0' })
  readonly #list = make('ol', 'messages')
  #agent: ChatSource | undefined
  #words: Partial<Words> = {}
  #tools: ClientTools | undefined
  #stopTools: (() => void) | undefined
  #chat: Chat | undefined
  #stop: (() => void) | undefined
  #shown: readonly string[] = []

  constructor() {
    super()
    const empty = make('slot', '', { name: 'empty' })
    const composer = make('slot', '', { name: 'composer' })
    composer.append(document.createElement('phi-composer'))
    this.#log.append(empty, this.#list)
    this.attachShadow({ mode: 'open' }).append(
      make('slot', '', { name: 'header' }),
      this.#log,
      composer,
      make('slot', '', { name: 'footer' }),
    )
  }

  get agent(): ChatSource | undefined {
    return this.#agent
  }

  set agent(agent: ChatSource | undefined) {
    this.#agent = agent
    if (this.isConnected) this.#begin()
  }

  get tools(): ClientTools | undefined {
    return this.#tools
  }

  set tools(tools: ClientTools | undefined) {
    this.#tools = tools
    this.#runTools()
  }

  get words(): Partial<Words> {
    return this.#words
  }

  set words(words: Partial<Words>) {
    this.#words = words
    // Rebuild the messages: they contain the old labels.
    this.#list.replaceChildren()
    this.#shown = []
    this.#look()
  }

  get chat(): Chat | undefined {
    return this.#chat
  }

  get labels(): Words {
    return { ...english, ...this.#words }
  }

  watch(look: () => void): () => void {
    this.#watchers.add(look)
    return () => this.#watchers.delete(look)
  }

  connectedCallback(): void {
    // Properties set before the element was defined shadow the accessors: set them again.
    for (const name of ['tools', 'agent', 'words'] as const) {
      if (!Object.hasOwn(this, name)) continue
      const early = { [name]: this[name] }
      Reflect.deleteProperty(this, name)
      Object.assign(this, early)
    }
    this.#begin()
  }

  disconnectedCallback(): void {
    this.#stop?.()
    this.#stop = undefined
    this.#stopTools?.()
    this.#stopTools = undefined
  }

  attributeChangedCallback(): void {
    if (this.isConnected && this.#agent === undefined) this.#begin(true)
  }

  /** Connects to the agent or to the endpoint's session. An element that moves within the document keeps its session. */
  #begin(isElsewhere = false): void {
    this.#stop?.()
    const endpoint = this.getAttribute('endpoint')
    if (this.#agent !== undefined) this.#chat = chatOf(this.#agent)
    else if (endpoint === null) this.#chat = undefined
    else if (this.#chat === undefined || isElsewhere)
      this.#chat = chatOf(remoteSession({ url: endpoint, sessionId: this.#sessionId(endpoint) }))
    this.#list.replaceChildren()
    this.#shown = []
    this.#stop = this.#chat?.subscribe(() => this.#look())
    this.#runTools()
    this.#look()
  }

  /** Runs the client tools for the current agent. */
  #runTools(): void {
    this.#stopTools?.()
    this.#stopTools = undefined
    const agent = this.#chat?.agent
    if (this.#tools === undefined || agent === undefined || !this.isConnected) return
    this.#stopTools = isRemote(agent) ? agent.tools(this.#tools) : runClientTools(agent, this.#tools)
  }

  #sessionId(endpoint: string): string {
    const given = this.getAttribute('session')
    if (given !== null) return given
    const key = `phi-chat ${endpoint}`
    const fresh = crypto.randomUUID()
    try {
      const kept = sessionStorage.getItem(key) ?? fresh
      sessionStorage.setItem(key, kept)
      return kept
    } catch {
      // Without storage, a reload starts a new conversation.
      return fresh
    }
  }

  #look(): void {
    const state = this.#chat?.getSnapshot()
    this.#log.setAttribute('aria-label', this.labels.conversation)
    if (state !== undefined) {
      this.setAttribute('status', state.status)
      this.#log.setAttribute('aria-busy', String(state.status === 'running' || state.status === 'loading'))
      const { messageIds } = state
      if (this.#shown !== messageIds) arrange(this.#list, messageIds, (id) => make('li', 'item', {}, messageElement(id)))
      this.#shown = messageIds
      this.#log.firstElementChild?.toggleAttribute('hidden', messageIds.length > 0)
    }
    for (const look of [...this.#watchers]) look()
  }
}

function isRemote(agent: object): agent is RemoteSession {
  return 'tools' in agent && typeof agent.tools === 'function'
}

function messageElement(id: string): HTMLElement {
  const element = document.createElement('phi-message')
  element.setAttribute('message', id)
  return element
}
