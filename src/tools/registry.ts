import { someTools } from '../base/argument-checks.ts'
import { ConfigError } from '../contract/errors.ts'
import { checkOptions } from '../contract/shape/read.ts'
import { aFunction, aSchema, aText, options, required } from '../contract/shape/shape.ts'
import { toolName } from '../contract/tool/tool-result.ts'
import type { AgentTool } from '../types/tool/tool.ts'

export const aTool = options<Pick<AgentTool, 'name' | 'description' | 'parameters' | 'execute'>>(
  { name: required(toolName), description: required(aText), parameters: required(aSchema), execute: required(aFunction) },
  true,
)
/**
 * Registers tools by name, for configuration that refers to tools by name.
 *
 * **Contract**
 * - Names are unique: registering one twice throws `ConfigError` `invalidTool`.
 * - `resolve` throws for an unknown name instead of skipping it.
 *
 * Source: docs/concepts/tools.md
 */
export class ToolRegistry {
  // Use a `Map`, so that `constructor` and `__proto__` are ordinary names.
  readonly #tools = new Map<string, AgentTool>()

  constructor(tools: Iterable<AgentTool> = []) {
    checkOptions(tools, someTools, 'tools', 'invalidTool')
    for (const tool of tools) this.register(tool)
  }

  /** Adds a tool. Returns the registry. */
  register(tool: AgentTool): this {
    checkOptions(tool, aTool, 'tool', 'invalidTool')
    if (this.#tools.has(tool.name)) {
      throw new ConfigError('invalidTool', `A tool named "${tool.name}" is already registered. Rename one of them.`)
    }
    this.#tools.set(tool.name, tool)
    return this
  }

  /** Returns the tool with that name, or `undefined`. */
  get(name: string): AgentTool | undefined {
    return this.#tools.get(name)
  }

  /** Returns whether a tool with that name is registered. */
  has(name: string): boolean {
    return this.#tools.has(name)
  }

  /** Returns all names in registration order. */
  get names(): string[] {
    return [...this.#tools.keys()]
  }

  /**
   * Returns the tools with these names, in this order. For unknown names, throws `ConfigError` `invalidTool`, which lists all unknown and
   * all known names.
   */
  resolve(names: readonly string[]): AgentTool[] {
    const unknown = names.filter((name) => !this.#tools.has(name))
    if (unknown.length > 0) {
      const known = this.names.join(', ') || 'none'
      throw new ConfigError('invalidTool', `Unknown tools: ${unknown.map((name) => JSON.stringify(name)).join(', ')}. Known: ${known}.`)
    }
    return names.flatMap((name) => this.#tools.get(name) ?? [])
  }
}
