import { ProviderError } from '../../contract/errors.ts'

/** URL of a deployment. */
export interface AzureAddress {
  url: string
  /** Deployment in the configured URL, if any. */
  deployment?: string
}

const deploymentPath = /^(.*?)\/openai\/deployments\/([^/]+)(\/.*)?$/
/** Routes of other APIs, as shown in portals and examples. */
const otherRoute = /\/(chat\/completions|completions|models)$/
const dated = /^\d{4}-\d{2}-\d{2}/

/**
 * Returns the Responses API URL for any URL form that Azure documents.
 *
 * **Contract**
 * - A resource root, with or without `/openai` or `/openai/v1`, and a Foundry project become `/openai/v1/responses`.
 * - `/openai/deployments/<name>` sets the deployment and uses that route too, because the Responses API is not scoped to deployments. Drops
 *   its `api-version`, which belongs to another API.
 * - A dated `apiVersion`, as an option or in any other URL, selects `/openai/responses?api-version=…`. Any other version (`preview`) is
 *   added to the current route.
 * - A URL that ends with `/responses` stays unchanged. Preserves other query parameters.
 *
 * Throws `ProviderError` `other` for an invalid URL. Source: docs/providers/openai-responses.md
 */
export function azureAddress(baseUrl: string, apiVersion: string | undefined): AzureAddress {
  if (!URL.canParse(baseUrl)) {
    throw new ProviderError('other', 'baseUrl is not a URL. Pass an absolute one, such as https://my-resource.openai.azure.com.')
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

/** Returns whether a key is an Entra ID token: a JWT has dots, Azure keys have none. */
export function isEntraToken(key: string): boolean {
  return /^eyJ[\w-]+\.[\w-]+\.[\w-]*$/.test(key)
}
