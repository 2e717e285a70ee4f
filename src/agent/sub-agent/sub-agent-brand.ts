const brand = Symbol.for('phi-core.subAgent')

/** Marks a tool as a sub-agent. Enumerable: a copy made by spreading is still one. */
export function markAsSubAgent(tool: object): void {
  Object.defineProperty(tool, brand, { value: true, enumerable: true })
}

/** Whether a tool is a sub-agent, also one made by another copy of this package. */
export function isSubAgentTool(tool: object): boolean {
  return brand in tool
}
