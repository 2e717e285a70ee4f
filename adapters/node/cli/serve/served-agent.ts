import type { Agent } from '../../../../src/index.ts'

/** An agent behind HTTP on this machine, with a page. */
export interface ServedAgent {
  /** The address of the page, with the token; of a session where one is named. */
  link(sessionId?: string): string
  /** The agent with which the page goes on with a session: from now on both use it. What was shared before is the page's alone. */
  open(sessionId: string): Promise<Agent>
  /** The page goes on with this agent, which is the terminal's. */
  share(agent: Agent): Promise<void>
  close(): Promise<void>
}
