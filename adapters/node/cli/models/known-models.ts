import { type CatalogueEntry, catalogue } from '../../../../src/models.ts'
import { type Backend, compatPresets } from '../../../../src/providers/openai.ts'
import { keysOfServices } from '../../../env/internal.ts'
import { shortCount } from '../repl/meter.ts'
import type { Screen } from '../terminal/screen.ts'

/** An available model. */
export interface KnownModel {
  /** Name for `--model`. */
  name: string
  /** Its window and prices, in words. */
  facts: string
}

/** Default URLs of local servers. */
const localServers = Object.entries<Backend>(compatPresets).filter(([, { isLocal }]) => isLocal === true)

/** Timeout for a local server in milliseconds. */
const localMs = 800

/** Returns the available models whose name contains `filter`, from providers with a key and from running local servers. */
export async function knownModels(filter = '', env: NodeJS.ProcessEnv = process.env): Promise<KnownModel[]> {
  const ofServices = Object.entries(keysOfServices).flatMap(([service, { keys, listedAs }]) =>
    keys.some((variable) => env[variable])
      ? catalogue.list(listedAs).map((entry) => ({ name: `${service}/${entry.id}`, facts: factsOf(entry) }))
      : [],
  )
  const local = await localModels(env)
  return [...local, ...ofServices].filter(({ name }) => name.toLowerCase().includes(filter.toLowerCase()))
}

function factsOf({ contextWindow, cost, reasoning, takesPictures }: CatalogueEntry): string {
  const prices = `$${cost.inputPerMillion} in, $${cost.outputPerMillion} out`
  return [`${shortCount(contextWindow)} tokens`, prices, ...(reasoning ? ['thinks'] : []), ...(takesPictures ? ['pictures'] : [])].join(
    ', ',
  )
}

/** Returns the models from local servers, but none from a server that does not respond. */
export async function localModels(env: NodeJS.ProcessEnv = process.env): Promise<KnownModel[]> {
  const found = await Promise.all(
    localServers.map(async ([name, { baseUrl }]) => {
      const ids = await idsAt(env[`${name.toUpperCase()}_BASE_URL`] || baseUrl)
      return ids.map((id) => ({ name: `${name}/${id}`, facts: `local, at ${new URL(baseUrl).host}` }))
    }),
  )
  return found.flat()
}

async function idsAt(baseUrl: string): Promise<string[]> {
  try {
    const response = await fetch(`${baseUrl.replace(/\/$/, '')}/models`, { signal: AbortSignal.timeout(localMs), redirect: 'error' })
    const { data }: { data?: unknown } = Object(response.ok ? await response.json() : {})
    const ids = Array.isArray(data) ? data.map((each) => Object(each).id) : []
    return ids.filter((id): id is string => typeof id === 'string').slice(0, 100)
  } catch {
    return []
  }
}

/**
 * Runs `phi models`: writes the available models to standard output, one per line. Resolves with the exit code, which is 1 if there are
 * none.
 */
export async function listModels(filter: string | undefined, screen: Screen): Promise<number> {
  const models = await knownModels(filter)
  const { plain } = screen.paintData
  for (const { name, facts } of models) screen.data(plain(`${name.padEnd(44)} ${facts}\n`))
  if (models.length > 0) return 0
  screen.say(
    'yellow',
    filter === undefined
      ? 'No API key is set and no local server responds. Run phi doctor for details.'
      : `No available model matches "${filter}".`,
  )
  return 1
}
