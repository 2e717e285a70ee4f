import type { AgentMessage } from '../../contract/message/message.ts'
import type { AgentTool } from '../../types/tool/tool.ts'

/** Returns the tools, followed by their companions. */
function withCompanions(tools: readonly AgentTool[]): readonly AgentTool[] {
  const companions = new Set(tools.flatMap((tool) => tool.companions ?? []))
  for (const tool of tools) companions.delete(tool)
  return companions.size === 0 ? tools : [...tools, ...companions]
}

/** A turn's tools. */
export interface Offer {
  /** Tools offered to the model. */
  tools: readonly AgentTool[]
  /** Tools that a provider's search may find and the model may then call. */
  searchable: readonly AgentTool[]
}

/** Selects the tools to offer: all tools except those that a search must find first. Reads only new entries in a growing history. */
export class OfferedTools {
  /** Names of tools that were found or called, in order. */
  readonly #named = new Map<string, 'found' | 'called'>()
  #seen = 0
  #changes = 0
  /** Cached result. The same lists must be returned, so that encoded tools stay cached. */
  #last: { of: readonly AgentTool[]; changes: number; offer: Offer } | undefined

  of(tools: readonly AgentTool[], messages: readonly AgentMessage[]): Offer {
    if (tools.every((tool) => tool.isOffered !== 'whenFound' && tool.companions === undefined)) return { tools, searchable: [] }
    this.#look(messages)
    const changes = this.#changes
    if (this.#last?.of !== tools || this.#last.changes !== changes) this.#last = { of: tools, changes, offer: this.#offer(tools) }
    return this.#last.offer
  }

  #offer(tools: readonly AgentTool[]): Offer {
    const hidden = new Map(tools.filter(({ isOffered }) => isOffered === 'whenFound').map((tool) => [tool.name, tool]))
    const names = new Set(tools.flatMap(({ searches = [] }) => searches))
    // A provider's search results are not visible here, so a call to a tool counts as found.
    const found = [...this.#named].flatMap(([name, how]) => (how === 'found' || names.has(name) ? (hidden.get(name) ?? []) : []))
    return {
      tools: withCompanions([...tools.filter(({ isOffered }) => isOffered !== 'whenFound'), ...found]),
      searchable: [...hidden.values()].filter(({ name }) => names.has(name)),
    }
  }

  #look(messages: readonly AgentMessage[]): void {
    for (; this.#seen < messages.length; this.#seen += 1) {
      const message = messages[this.#seen]
      if (message?.role === 'toolResult') for (const name of message.offers ?? []) this.#add(name, 'found')
      if (message?.role === 'assistant') for (const block of message.content) if (block.type === 'toolCall') this.#add(block.name, 'called')
    }
  }

  #add(name: string, how: 'found' | 'called'): void {
    const known = this.#named.get(name)
    if (known === 'found' || known === how) return
    this.#changes += 1
    // A tool that was called before it was found moves to the position of its discovery.
    if (how === 'found') this.#named.delete(name)
    this.#named.set(name, how)
  }
}
