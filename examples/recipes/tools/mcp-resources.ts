import { type Agent, textOf } from 'phi-core'
import type { McpToolSet } from 'phi-core/mcp'

/** Asks `agent` about the first resource of a server whose name contains `name`. */
export async function askAbout(agent: Agent, tools: McpToolSet, name: string, question: string): Promise<string> {
  const { resources } = await tools.resources()
  const found = resources.find((resource) => resource.name.includes(name))
  if (found === undefined) throw new Error(`The server has no resource called ${name}.`)
  const content = await tools.readResource(found.uri)
  const { text } = await agent.prompt({ role: 'user', content: [...content, { type: 'text', text: question }] }).result
  return text
}

/** Sends a prompt of a server, such as `review` with `{ language: 'en' }`. */
export async function sendPrompt(agent: Agent, tools: McpToolSet, name: string, args: Record<string, string>): Promise<string> {
  const { text } = await agent.prompt(await tools.prompt(name, args)).result
  return text
}

/** Calls `onText` with the text of a resource now, and after each change. Returns a function that stops. */
export async function followResource(tools: McpToolSet, uri: string, onText: (text: string) => void): Promise<() => void> {
  const read = async () => onText(textOf(await tools.readResource(uri)))
  const stop = await tools.onResourceChange(uri, () => void read().catch(() => undefined))
  await read()
  return stop
}
