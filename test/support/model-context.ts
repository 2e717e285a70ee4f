import type { ModelContextLike } from '../../adapters/browser/index.ts'
import type { ModelContextTool } from '../../src/mcp/web-mcp-client.ts'

/** A tool as a page registers it. */
export interface PageTool extends ModelContextTool {
  execute(input: object, options: { signal: AbortSignal }): Promise<unknown>
}

/**
 * `document.modelContext` as its specification has it: a list in the order of names, copies of schemas, results as JSON text, every failure an `UnknownError`, and `toolchange` as a task of
 * its own. Source: https://webmachinelearning.github.io/webmcp
 */
export class PageModelContext extends EventTarget implements ModelContextLike {
  readonly #tools = new Map<string, PageTool>()

  /** Registers a tool until `signal` aborts. */
  async registerTool(tool: PageTool, { signal }: { signal?: AbortSignal } = {}): Promise<void> {
    if (this.#tools.has(tool.name) || !/^[\w.-]{1,128}$/.test(tool.name) || tool.description === '')
      throw new DOMException('The tool cannot be registered.', 'InvalidStateError')
    signal?.throwIfAborted()
    this.#tools.set(tool.name, tool)
    signal?.addEventListener('abort', () => {
      this.#tools.delete(tool.name)
      this.#changed()
    })
    this.#changed()
  }

  async getTools(): Promise<ModelContextTool[]> {
    return [...this.#tools.values()]
      .toSorted((a, b) => (a.name < b.name ? -1 : 1))
      .map(({ execute: _, title = '', inputSchema, ...tool }) => ({
        ...tool,
        title,
        ...(inputSchema !== undefined && { inputSchema: JSON.parse(JSON.stringify(inputSchema)) }),
      }))
  }

  async executeTool({ name }: ModelContextTool, input: object = {}, { signal }: { signal?: AbortSignal } = {}): Promise<string | null> {
    signal?.throwIfAborted()
    const tool = this.#tools.get(name)
    if (tool === undefined) throw new DOMException('The tool could not be run.', 'UnknownError')
    const inner = new AbortController()
    const cancelled = new Promise<never>((_, reject) => {
      signal?.addEventListener('abort', () => {
        reject(signal.reason)
        inner.abort()
      })
    })
    const running = tool.execute(JSON.parse(JSON.stringify(input)), { signal: inner.signal }).catch(() => {
      throw new DOMException('The tool could not be run.', 'UnknownError')
    })
    const value = await Promise.race([running, cancelled])
    return value === leftThePage ? null : (JSON.stringify(value) ?? 'null')
  }

  #changed(): void {
    setTimeout(() => this.dispatchEvent(new Event('toolchange')))
  }
}

/** What a tool gives that navigates. */
export const leftThePage = Symbol('left the page')
