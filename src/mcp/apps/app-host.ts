import type { McpAppCall } from './app-server.ts'

/**
 * Functions of an application for an app in a frame. All are optional: phi-core refuses requests of the app that need a missing one.
 *
 * Source: docs/guides/mcp-apps.md
 */
export interface McpAppHost {
  /**
   * Prompts the user to approve one of the app's tool calls. Only `true` runs it. Called only for calls that need an approval. `signal`
   * aborts when the frame is closed. Default: denies them.
   */
  approve?(call: McpAppCall, signal: AbortSignal): boolean | Promise<boolean>
  /** Puts the text into the composer, where the user edits, sends or deletes it. Never send it by yourself. */
  draft?(text: string): void
  /**
   * Prompts the user to open an http or https URL, and opens it. Resolves with whether it was opened. `signal` aborts when the frame
   * closes.
   */
  openLink?(url: string, signal: AbortSignal): boolean | Promise<boolean>
  /** Shows the user what the app wants to tell the model, and replaces the previous text. */
  updateContext?(text: string): void
  /** Called once if the frame broke a limit and was removed. */
  onEnd?(reason: string): void
}

/** What an app learns about the page around it. */
export interface McpAppContext {
  theme?: 'light' | 'dark'
  /** As BCP 47 defines, such as `en-GB`. */
  locale?: string
  /** IANA name, such as `Europe/Paris`. */
  timeZone?: string
}
