import { ProviderError } from '../../contract/errors.ts'

/** Where a deployment is called. */
export interface AzureAddress {
  url: string
  /** The deployment that the configured URL names, if it names one. */
  deployment?: string
}

const deploymentPath = /^(.*?)\/openai\/deployments\/([^/]+)(\/.*)?$/
/** The routes of other APIs at the end of what portals and examples show. */
const otherRoute = /\/(chat\/completions|completions|models)$/
const dated = /^\d{4}-\d{2}-\d{2}/

/**
 * The address of the Responses API behind any of the URL forms that Azure documents.
 *
 * **Contract**
 * - A resource root, with or without `/openai` or `/openai/v1`, and a project of Foundry lead to `/openai/v1/responses`.
 * - `/openai/deployments/<name>` names the deployment and leads there too: the Responses API is not scoped to deployments. Its
 *   `api-version` is that of another API and is dropped.
 * - A dated `apiVersion`, given as an option or as `api-version` in any other URL, leads to `/openai/responses?api-version=…`; another one
 *   (`preview`) is added to the current route.
 * - A URL that ends with `/responses` is called as it is. Any other query is kept.
 *
 * Throws `ProviderError` `other` for a base that is no URL. Source: docs/providers/openai-responses.md
 */
export function azureAddress(baseUrl: string, apiVersion: string | undefined): AzureAddress {
  if (!URL.canParse(baseUrl)) {
    throw new ProviderError('other', 'baseUrl is not a URL. Give an absolute one, such as https://my-resource.openai.azure.com.')
  }
  const url = new URL(baseUrl)
  const path = url.pathname.replace(/\/+$/, '')
  const scoped = deploymentPath.exec(path)
  if (scoped !== null) url.searchParams.delete('api-version')
  if (scoped === null && path.endsWith('/responses')) {
    url.pathname = path
    if (apiVersion !== undefined) url.searchParams.set('api-version', apiVersion)
    return { url: url.href }
  }
  const root = (scoped?.[1] ?? path).replace(otherRoute, '').replace(/\/openai(\/v1)?$/, '')
  const version = apiVersion ?? url.searchParams.get('api-version') ?? undefined
  if (version !== undefined) url.searchParams.set('api-version', version)
  url.pathname = `${root}/openai/${version !== undefined && dated.test(version) ? '' : 'v1/'}responses`
  return scoped?.[2] === undefined ? { url: url.href } : { url: url.href, deployment: decodeURIComponent(scoped[2]) }
}

/** Whether a key is a token of Entra ID: those are JWTs, and keys of Azure contain no dot. */
export function isEntraToken(key: string): boolean {
  return /^eyJ[\w-]+\.[\w-]+\.[\w-]*$/.test(key)
}
