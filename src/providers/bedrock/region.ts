import { ConfigError } from '../../types/errors.ts'

const defaultRegion = 'us-east-1'

/** The region of a model: named by its ARN, else by the AWS host it is called at, else `us-east-1`. */
export function regionOf(id: string, baseUrl: string | undefined): string {
  const named = /^arn:[^:]*:[^:]*:([a-z0-9-]+):/.exec(id) ?? /\/\/bedrock-runtime(?:-fips)?\.([a-z0-9-]+)\./.exec(baseUrl ?? '')
  return named?.[1] ?? defaultRegion
}

/** The public endpoint of a region. Throws `ConfigError` `invalidOption` for what is no region: a key would go to another host. */
export function endpointOf(region: string): string {
  if (!/^[a-z0-9-]+$/.test(region)) {
    throw new ConfigError('invalidOption', `region "${region}" is none of AWS. Give one such as us-east-1.`)
  }
  return `https://bedrock-runtime.${region}.amazonaws.com${region.startsWith('cn-') ? '.cn' : ''}`
}
