import { readFileSync } from 'node:fs'
import { publicEntries } from '../harness/public-entries.ts'
import { blankOut, exportsOf, namesIn, readSources } from '../harness/source.ts'

/** Import paths of all public names; the root comes first. */
function publicNames(): Map<string, { from: string; isType: boolean }> {
  const names = new Map<string, { from: string; isType: boolean }>()
  for (const { subpath, source } of publicEntries()) {
    for (const { name, isType } of exportsOf(source, readFileSync(source, 'utf8')))
      if (!names.has(name)) names.set(name, { from: `phi-core${subpath.slice(1)}`, isType })
  }
  return names
}

/** What examples use without declaring it: values that every reader knows from the sentence above. */
export const prelude = `
import type { createServer as CreateServer } from 'node:http'
import type { Hono } from 'hono'
import type { Pool as PgPool } from 'pg'
import type { createClient as CreateClient } from 'redis'
import type * as zod from 'zod'
import type { Agent as AgentType, AgentEvent as EventType, AgentRun as RunType, AgentTool as ToolType, Model as ModelType, ModelConfig, SessionStore as StoreType } from 'phi-core'
import type { DeepPartial as PartialOf } from 'ai'
import type { D1Binding, ObjectNamespace } from 'phi-core/cloudflare'
import type { MemoryLiveSessions } from 'phi-core/http'
import type { AgentContext } from 'phi-core/loop'
import type { McpClientLike } from 'phi-core/mcp'
import type { UiMessage } from 'phi-core/ui/ai-sdk'
import type { Workspace } from 'phi-core/tools'
declare global {
  const model: ModelType, smallModel: ModelType, small: ModelType, large: ModelType, fast: ModelType, deep: ModelType
  const tools: ToolType[], weather: ToolType, plan: ToolType, search: ToolType
  const agent: AgentType, researcher: AgentType
  const run: RunType
  const store: StoreType, logStore: StoreType
  const sessions: MemoryLiveSessions
  const workspace: Workspace
  const app: Hono
  const env: { DB: D1Binding; ACCESS_TOKEN: string }
  interface Bindings { ACCESS_TOKEN: string; ANTHROPIC_API_KEY: string; INDEX: ObjectNamespace }
  interface Plan { steps: string[] }
  type DeepPartial<Whole> = PartialOf<Whole>
  const MyStore: new () => StoreType
  const users: Map<string | undefined, string>
  const ask: (request: unknown) => Promise<boolean>
  const context: AgentContext
  const emit: (event: EventType) => void
  const bill: (sessionId: string, loops: readonly unknown[]) => void
  const view: { accept(event: EventType): void }
  const socket: WebSocket
  const client: McpClientLike
  const message: UiMessage
  const apiKey: string, xaiKey: string, openaiKey: string, key: string, threadId: string, runId: string, text: string, saved: string
  const tokens: () => Promise<string>
  const token: () => Promise<string>
  const write: (text: string) => void
  const z: typeof zod.z
  const Pool: typeof PgPool
  const createClient: (options: { url: string | undefined }) => ReturnType<typeof CreateClient>
  const createServer: typeof CreateServer
  const signal: AbortSignal
  const config: ModelConfig
}
`

/** The `@example` blocks of TSDoc as modules, by file name. Public names are imported; `prelude` declares the usual rest. */
export function docExamples(): Map<string, string> {
  const names = publicNames()
  const programs = new Map<string, string>()
  for (const [path, code] of readSources('src', 'adapters', 'testing')) {
    if (path === 'src/contract/shape/shape.ts') continue
    for (const [comment] of code.matchAll(/\/\*\*[\s\S]*?\*\//g)) {
      for (const [, language = 'ts', body = ''] of comment.matchAll(/```(tsx?|js)\n([\s\S]*?)```/g)) {
        const example = body.replace(/^ *\* ?/gm, '')
        const line = code.slice(0, code.indexOf(comment)).split('\n').length
        programs.set(
          `${path.replaceAll(/[/.]/g, '-')}-${line}-${programs.size}.${language}`,
          `${importsFor(example, names)}${example}\nexport {}\n`,
        )
      }
    }
  }
  return programs
}

function importsFor(example: string, names: ReturnType<typeof publicNames>): string {
  const declared = namesIn(example)
  const used = new Set(blankOut(example).match(/(?<![\w$])(?<!(?<!\.\.)\.)[A-Za-z_]\w*/g))
  return [...used]
    .flatMap((name) => {
      const known = declared.has(name) ? undefined : names.get(name)
      return known === undefined ? [] : [`import { ${known.isType ? 'type ' : ''}${name} } from '${known.from}'\n`]
    })
    .join('')
}
