import type { JsonObject } from '../contract/json.ts'

/** A tool as a server lists it. Nothing in it is trusted. Source: https://modelcontextprotocol.io */
export interface McpTool {
  name: string
  title?: string
  description?: string
  /** Whatever the server sent. */
  inputSchema?: unknown
  annotations?: McpToolAnnotations
}

/** What a server says of the effects of its tool: hints, and no promise. */
export interface McpToolAnnotations {
  title?: string
  readOnlyHint?: boolean
  destructiveHint?: boolean
  idempotentHint?: boolean
  openWorldHint?: boolean
}

/** How far a call is, as a server tells it. */
export interface McpProgress {
  progress: number
  total?: number | undefined
  message?: string | undefined
}

/** What a request is sent with. `signal` belongs to the call; once it aborts, the client tells the server and rejects. */
export interface McpRequestOptions {
  signal?: AbortSignal
  /** Milliseconds. */
  timeout?: number
  onprogress?: (progress: McpProgress) => void
  /** Asks the person behind the call what the server wants to know, `params` as it sent them. For `connectMcp`; other clients pass it over. */
  onelicit?: (params: unknown, signal: AbortSignal) => Promise<{ action: 'accept' | 'decline' | 'cancel'; content?: JsonObject }>
  /** The call may be made once more where nobody knows what became of it. For `connectMcp`. */
  isRepeatable?: boolean
  /** Whose call it is: what is asked during calls of several is asked of nobody. */
  caller?: string
  /** Stops the clock that the caller keeps of the call, while somebody is asked; the function that it returns starts it again. */
  pause?: () => () => void
}

/** What a call is sent with: the options of 2.x, which are the schema of 1.x as well. */
export interface McpCallOptions extends McpRequestOptions {
  /** What 2.x reads which arguments go into headers from. */
  toolDefinition?: object
  /** What 1.x checks the result with. */
  safeParse?(data: unknown): unknown
}

/** What a result is checked with: a Standard Schema that is a schema of the 1.x SDK as well. */
export interface McpResultSchema {
  readonly '~standard': object
}

/**
 * A client that is connected to one server. The `Client` of `@modelcontextprotocol/sdk` 1.x and that of `@modelcontextprotocol/client` 2.x are
 * ones as they are.
 *
 * **Contract**
 * - `callTool` takes the options twice: 1.x has a schema in second place, and 2.x the options; both find there what they look for.
 * - Notifications that nobody handles come to `fallbackNotificationHandler`; it is replaced by one that calls the one before.
 *
 * Source: docs/guides/mcp.md
 */
export interface McpClientLike {
  request(
    request: { method: string; params?: Record<string, unknown> },
    schema: McpResultSchema,
    options?: McpRequestOptions,
  ): Promise<unknown>
  callTool(
    params: { name: string; arguments?: Record<string, unknown>; _meta?: Record<string, unknown> },
    schema?: McpCallOptions,
    options?: McpRequestOptions,
  ): Promise<unknown>
  /** What the server says of how it is used. */
  getInstructions?(): string | undefined
  getServerCapabilities(): { tools?: object | undefined } | undefined
  fallbackNotificationHandler?: (notification: { method: string }) => Promise<void>
  close(): Promise<void>
}

/** Takes any result: what is in it is checked where it is read, so that one thing a server gets wrong does not cost the rest. */
export const anyResult = {
  '~standard': { version: 1 as const, vendor: 'phi-core', validate: (value: unknown) => ({ value }) },
  /** As the 1.x SDK asks. */
  safeParse: (data: unknown) => ({ success: true as const, data }),
}
