import { expect, type Page } from 'playwright/test'
import { createAgentApp, memoryLiveSessions } from '../../adapters/http/index.ts'
import { memorySessionStore } from '../../src/index.ts'
import { serve } from '../../test/harness/serve.ts'

/** Which agent the sessions of a server have. */
export type SessionAgent = Parameters<typeof memoryLiveSessions>[0]['agent']

export interface AgentServer extends AsyncDisposable {
  url: string
}

/** Serves agents on this machine, to pages of `origin`. */
export async function serveAgent(agent: SessionAgent, origin: string): Promise<AgentServer> {
  const sessions = memoryLiveSessions({ store: memorySessionStore(), agent })
  const app = createAgentApp({ sessions, authorize: 'loopbackOnly', cors: [origin] })
  const server = await serve((request) => app.fetch(request))
  return {
    url: server.url,
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]()
      await sessions.close()
    },
  }
}

/** Has the page talk to an agent on a server. */
export async function chooseAgentServer(page: Page, url: string): Promise<void> {
  await page.getByTestId('model-button').click()
  await page.getByText('On a server').click()
  await page.getByRole('textbox', { name: 'Address' }).fill(url)
  await page.getByRole('button', { name: 'Apply' }).click()
  await expect(page.getByText('Stored on the server.')).toBeVisible()
}
