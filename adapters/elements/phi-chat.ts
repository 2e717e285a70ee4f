import { type ClientTools, type RemoteSession, remoteSession, runClientTools } from '../../src/client.ts'
import { type Chat, type ChatSource, chatOf } from '../../src/store.ts'
import { type ChatOwner, ElementBase } from './chat-element.ts'
import { arrange, make } from './dom.ts'
import { english, type PhiChat, type Words } from './phi-chat-options.ts'

/**
 * A conversation: its messages, what waits for a person, and where one writes. The only element with a shadow tree, so that `phi-chat::part(…)` reaches
 * everything in it.
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
    // What is there was made in other words.
    this.#list.replaceChildren()
    this.#shown = []
    this.#look()
  }

  get chat(): Chat | undefined {
    return this.#chat
  }

  get said(): Words {
    return { ...english, ...this.#words }
  }

  watch(look: () => void): () => void {
    this.#watchers.add(look)
    return () => this.#watchers.delete(look)
  }

  connectedCallback(): void {
    // What the page said before the element was defined.
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

  /** Shows the agent, or the session of the endpoint. An element that is moved within the page shows the same as before. */
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

  /** Runs the tools of the page for whatever agent is shown. */
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
      // Where pages may keep nothing, a reload begins another conversation.
      return fresh
    }
  }

  #look(): void {
    const state = this.#chat?.getSnapshot()
    this.#log.setAttribute('aria-label', this.said.conversation)
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
