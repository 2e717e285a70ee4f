import { readdirSync } from 'node:fs'
import { keysOfServices } from '../../../env/internal.ts'
import type { CliArguments } from '../args.ts'
import { localTools, projectAt } from '../assistant/project.ts'
import { localModels } from '../models/known-models.ts'
import type { Screen } from '../terminal/screen.ts'

/** A check's result: ok, or a problem. */
interface Finding {
  isFine: boolean
  what: string
  found: string
}

/** Optional packages that some phi features need. */
const peers = {
  zod: 'agent files',
  hono: 'phi serve',
  '@modelcontextprotocol/sdk': 'MCP servers',
  '@agentclientprotocol/sdk': 'phi acp',
} as const

const proxyVariables = ['HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY', 'NO_PROXY']

/**
 * Reports available and missing parts of the setup. Lists key names, but never shows keys. Resolves with the exit code: 0, or 1 without a
 * model.
 */
export async function doctor(args: CliArguments, screen: Screen, version: string): Promise<number> {
  const models = await modelFindings()
  const findings: Finding[] = [
    { isFine: true, what: 'phi', found: `${version}, Node ${process.versions.node}, ${process.platform} ${process.arch}` },
    ...models,
    sandboxFinding(args),
    ...Object.entries(peers).map(peerFinding),
    proxyFinding(),
    homeFinding(),
    terminalFinding(screen),
  ]
  for (const { isFine, what, found } of findings)
    screen.line(screen.paint.paint(isFine ? 'green' : 'yellow', `${isFine ? '✓' : '!'} ${what.padEnd(28)} ${found}`))
  return models.some(({ isFine }) => isFine) ? 0 : 1
}

async function modelFindings(): Promise<Finding[]> {
  const named = Object.entries(keysOfServices).flatMap(([service, { keys }]) => {
    const set = keys.filter((variable) => process.env[variable])
    return set.length === 0 ? [] : [{ isFine: true, what: service, found: `${set.join(', ')} is set` }]
  })
  const local = await localModels()
  const servers =
    local.length === 0 ? [] : [{ isFine: true, what: 'local servers', found: `${local.length} models, such as ${local[0]?.name}` }]
  const none = {
    isFine: false,
    what: 'models',
    found: 'no API key is set (such as ANTHROPIC_API_KEY) and no local server responds; try phi --demo',
  }
  return named.length + servers.length === 0 ? [none] : [...named, ...servers]
}

function sandboxFinding({ sandbox }: CliArguments): Finding {
  const { tools, notes } = localTools(process.cwd(), sandbox !== false)
  const hasBash = tools.some(({ name }) => name === 'bash')
  const found = hasBash && notes.length === 0 ? 'commands run in a sandbox' : (notes[0]?.split('\n', 1)[0] ?? 'commands cannot be run')
  return { isFine: hasBash && notes.length === 0, what: 'sandbox', found }
}

function peerFinding([name, what]: [string, string]): Finding {
  try {
    import.meta.resolve(name)
    return { isFine: true, what: name, found: `installed, for ${what}` }
  } catch {
    return { isFine: false, what: name, found: `not installed; ${what} needs it: npm install ${name}, or npx with -p ${name}` }
  }
}

function proxyFinding(): Finding {
  const set = proxyVariables.flatMap((name) => [name, name.toLowerCase()]).filter((name) => process.env[name])
  const isUsed = process.env.NODE_USE_ENV_PROXY === '1'
  if (set.length === 0) return { isFine: true, what: 'proxies', found: 'none in the environment' }
  return {
    isFine: isUsed,
    what: 'proxies',
    found: `${set.join(', ')} set; ${isUsed ? 'used' : 'unused; set NODE_USE_ENV_PROXY=1'}`,
  }
}

function homeFinding(): Finding {
  const { home, sessions } = projectAt(process.cwd())
  try {
    return { isFine: true, what: 'sessions of this directory', found: `${readdirSync(sessions).length} in ${sessions}` }
  } catch {
    return { isFine: true, what: 'sessions of this directory', found: `none yet; stored in ${home}` }
  }
}

function terminalFinding({ isLive, width, height, paint }: Screen): Finding {
  const found = isLive
    ? `${width + 1}×${height}, ${paint.hasColours ? 'with colours' : 'without colours'}`
    : 'standard error is not a terminal'
  return { isFine: isLive, what: 'terminal', found }
}
