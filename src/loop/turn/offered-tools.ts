import type { AgentMessage } from '../../contract/message/message.ts'
import type { AgentTool } from '../../types/tool/tool.ts'

/** The tools, then those that come with them. */
export function withCompanions(tools: readonly AgentTool[]): readonly AgentTool[] {
  const companions = new Set(tools.flatMap((tool) => tool.companions ?? []))
  for (const tool of tools) companions.delete(tool)
  return companions.size === 0 ? tools : [...tools, ...companions]
}

/** Which tools of a list are offered: all, but for those that a search has to find first. Of a history that grows only what is new is looked at. */
export class OfferedTools {
  readonly #found: string[] = []
  #seen = 0
  /** The list that was made last, of which tools and with how many found: the same one each time, so that encoded forms are found again. */
  #last: { of: readonly AgentTool[]; count: number; list: readonly AgentTool[] } | undefined

  of(tools: readonly AgentTool[], messages: readonly AgentMessage[]): readonly AgentTool[] {
    if (tools.every((tool) => tool.isOffered !== 'whenFound' && tool.companions === undefined)) return tools
    this.#look(messages)
    if (this.#last?.of === tools && this.#last.count === this.#found.length) return this.#last.list
    const found = this.#found.flatMap((name) => tools.find((tool) => tool.name === name && tool.isOffered === 'whenFound') ?? [])
    const list = withCompanions([...tools.filter((tool) => tool.isOffered !== 'whenFound'), ...found])
    this.#last = { of: tools, count: this.#found.length, list }
    return list
  }

  #look(messages: readonly AgentMessage[]): void {
    for (; this.#seen < messages.length; this.#seen += 1) {
      const message = messages[this.#seen]
      if (message?.role !== 'toolResult') continue
      for (const name of message.offers ?? []) if (!this.#found.includes(name)) this.#found.push(name)
    }
  }
}
