/** Services on this machine, which answer as no real one does when a picture of it is wanted. */
import type { Page } from 'playwright'
import { type SessionAgent, serveAgent } from '../../e2e/page/agent-server.ts'
import { anyPage, type ModelRequest, type ModelServer, serveModel } from '../../e2e/page/model-server.ts'
import { openai } from '../../test/harness/server/openai.ts'
import type { Turn } from '../../test/harness/server/scenarios.ts'
import { click, press, settings, until, useLocalServer } from './steps.ts'

/** One frame of Chat Completions; `finish` says that it is the last, and why. */
export function frame(delta: object, finish: string | null = null): string {
  const choices = [{ index: 0, delta, finish_reason: finish }]
  return `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'llama-3.3', choices })}\n\n`
}

/** A stream of these frames. */
export function streamOf(body: BodyInit): Response {
  return new Response(body, { headers: { ...anyPage, 'content-type': 'text/event-stream' } })
}

/** A stream that begins so, and never ends. */
export function openStreamOf(frames: string): Response {
  return streamOf(new ReadableStream({ start: (controller) => controller.enqueue(new TextEncoder().encode(frames)) }))
}

/** What a service says that refuses; nothing is asked again by itself. */
export function refusal(status: number, body: string, headers: Record<string, string> = {}): Response {
  const own = { 'content-type': 'application/json', 'x-should-retry': 'false', 'access-control-expose-headers': '*' }
  return new Response(body, { status, headers: { ...anyPage, ...own, ...headers } })
}

/** Starts a service that answers so, and has the page ask it. */
export async function useService(
  page: Page,
  made: AsyncDisposableStack,
  answer: (request: ModelRequest) => Turn | Response,
): Promise<ModelServer> {
  const service = made.use(await serveModel(openai, answer))
  await useLocalServer(page, `${service.url}/v1`)
  return service
}

/** Starts a server of agents, and has the page talk to it. Gives back how to end the server. */
export async function useAgentServer(page: Page, made: AsyncDisposableStack, agent: SessionAgent): Promise<() => Promise<void>> {
  const server = made.use(await serveAgent(agent, new URL(page.url()).origin))
  await settings(page)
  await click(page.getByText('On a server', { exact: true }))
  await page.getByRole('textbox', { name: 'Address' }).fill(server.url)
  await press(page, 'Apply')
  await until(page, '.kept:has-text("Stored on the server")')
  return async () => server[Symbol.asyncDispose]()
}
