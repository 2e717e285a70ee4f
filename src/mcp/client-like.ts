import type { JsonObject } from '../contract/json.ts'
import type { McpToolUi } from './apps/app-meta.ts'

/** Untrusted tool entry from a server's list. Source: https://modelcontextprotocol.io */
export interface McpTool {
  name: string
  title?: string
  description?: string
  /** Unvalidated. */
  inputSchema?: unknown
  /** Schema of `structuredContent` in results. Unvalidated. */
  outputSchema?: unknown
  annotations?: McpToolAnnotations
  /** The app that shows calls of the tool, and who may call the tool. */
  ui?: McpToolUi
}

/** A server's hints about a tool's effects. Not guaranteed. */
export interface McpToolAnnotations {
  title?: string
  readOnlyHint?: boolean
  destructiveHint?: boolean
  idempotentHint?: boolean
  openWorldHint?: boolean
}

/** A progress notification from a server. */
export interface McpProgress {
  progress: number
  total?: number | undefined
  message?: string | undefined
}

/** Request options. `signal` belongs to the call; when it aborts, the client notifies the server and rejects. */
export interface McpRequestOptions {
  signal?: AbortSignal
  /** Milliseconds. */
  timeout?: number
  onprogress?: (progress: McpProgress) => void
  /** Sends the server's elicitation to this call's user. `params` are unvalidated. Used by `connectMcp`; other clients ignore it. */
  onelicit?: (params: unknown, signal: AbortSignal) => Promise<{ action: 'accept' | 'decline' | 'cancel'; content?: JsonObject }>
  /** Whether the call may be repeated if its outcome is unknown. Used by `connectMcp`. */
  isRepeatable?: boolean
  /** Identifies the caller. An elicitation is cancelled while calls of several callers run. */
  caller?: string
  /** Pauses the timeout of the call during an elicitation. Call the returned function to resume. */
  pause?: () => () => void
}

/** Call options for SDK 2.x, which also serve as result schema for SDK 1.x. */
export interface McpCallOptions extends McpRequestOptions {
  /** SDK 2.x reads from it which arguments become headers. */
  toolDefinition?: object
  /** SDK 1.x validates the result with it. */
  safeParse?(data: unknown): unknown
}

/** Result schema that works as a Standard Schema and with the 1.x SDK. */
export interface McpResultSchema {
  readonly '~standard': object
}

/**
 * A client connected to one server. Accepts the `Client` classes of `@modelcontextprotocol/sdk` 1.x and `@modelcontextprotocol/client` 2.x.
 *
 * **Contract**
 * - Pass the options to `callTool` as the second and the third argument. SDK 2.x reads the second. SDK 1.x reads the third, and treats
 *   the second as a result schema.
 * - Unhandled notifications go to `fallbackNotificationHandler`. `mcpTools` replaces this handler with one that also calls the previous
 *   handler.
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
  /** Returns the server's instructions. */
  getInstructions?(): string | undefined
  getServerCapabilities():
    | { tools?: object | undefined; resources?: object | undefined; prompts?: object | undefined; completions?: object | undefined }
    | undefined
  fallbackNotificationHandler?: (notification: { method: string }) => Promise<void>
  /** Called after a reconnect, when the server has lost all subscriptions; replaced like `fallbackNotificationHandler`. */
  onReconnected?: () => void
  close(): Promise<void>
}

/** Accepts any result. Each part is validated when it is read, so that one invalid part does not discard the rest. */
export const anyResult = {
  '~standard': { version: 1 as const, vendor: 'phi-core', validate: (value: unknown) => ({ value }) },
  /** Required by the 1.x SDK. */
  safeParse: (data: unknown) => ({ success: true as const, data }),
}
