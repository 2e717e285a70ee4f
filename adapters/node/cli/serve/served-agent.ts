/** An agent behind HTTP on this machine, with a page. */
export interface ServedAgent {
  /** The address of the page, with the token; of a session where one is named. */
  link(sessionId?: string): string
  close(): Promise<void>
}
