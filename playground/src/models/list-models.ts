import { errorText } from '../parts/error-text.ts'
import type { ModelChoice } from '../settings/settings.ts'
import { type FactoryCall, factoryCall, keyOwnerOf } from './factory-call.ts'
import { keyOf } from './key-vault.ts'
import { makeModel } from './make-model.ts'

/** What a service said when it was asked which models this key may use: the cheapest question, which costs no token. */
export type ModelList = { isThere: true; ids: readonly string[] } | { isThere: false; why: string }

/** Where the list is, beside the address that models are called at, and how a key is given. */
interface ListCall {
  path: string
  headers: (key: string) => Record<string, string>
}

const bearer = (key: string) => ({ authorization: `Bearer ${key}` })
const chat: ListCall = { path: '/models', headers: bearer }
const google: ListCall = { path: '/models', headers: (key) => ({ 'x-goog-api-key': key }) }

/** By factory; absent where a service has no such list, or its key is no key of a header. */
const lists: Partial<Record<FactoryCall['factory'], ListCall>> = {
  anthropic: {
    path: '/v1/models?limit=1000',
    headers: (key) => ({ 'x-api-key': key, 'anthropic-version': '2023-06-01', 'anthropic-dangerous-direct-browser-access': 'true' }),
  },
  openai: chat,
  openaiResponses: chat,
  openrouter: chat,
  openaiCompatible: chat,
  local: chat,
  google,
}

/** Asks the service of `choice` for its models with the key that is in this page: so one learns whether the key works. Never rejects. */
export async function listModels(choice: ModelChoice): Promise<ModelList> {
  const list = lists[factoryCall(choice).factory]
  if (list === undefined) return { isThere: false, why: 'This service has no list of models that a page can ask for.' }
  const key = keyOf(keyOwnerOf(choice) ?? '')
  if (key === undefined && choice.source === 'direct') return { isThere: false, why: 'Enter a key first.' }
  try {
    const { config } = await makeModel(choice)
    const url = `${config.baseUrl.replace(/\/+$/, '')}${list.path}`
    const response = await fetch(url, { headers: key === undefined ? {} : list.headers(key), signal: AbortSignal.timeout(15_000) })
    if (!response.ok) return { isThere: false, why: await refusalOf(response) }
    return { isThere: true, ids: idsIn(await response.json()) }
  } catch (error) {
    return {
      isThere: false,
      why: `No answer: ${errorText(error)}. The server may not let pages ask.`,
    }
  }
}

/** What the service said, in its words; nothing of it where it is about a key, which services echo. */
async function refusalOf(response: Response): Promise<string> {
  if (response.status === 401 || response.status === 403) return `The key was refused (${response.status}).`
  const body: unknown = await response.json().catch(() => undefined)
  const { error, message } = Object(body)
  const reason: unknown = Object(error).message ?? message
  return `The service answered ${response.status}${typeof reason === 'string' ? `: ${reason.slice(0, 200)}` : '.'}`
}

/** Of the lists of OpenAI and Anthropic (`data`), and Google (`models`, whose names begin with `models/`). */
function idsIn(body: unknown): string[] {
  const { data, models } = Object(body)
  const rows: unknown[] = Array.isArray(data) ? data : Array.isArray(models) ? models : []
  const ids = rows.flatMap((row) => {
    const { id, name } = Object(row)
    const own = typeof id === 'string' ? id : name
    return typeof own === 'string' ? [own.replace(/^models\//, '').slice(0, 200)] : []
  })
  return ids.slice(0, 2000).toSorted()
}
