// Uses no static imports, because an outdated Node could not parse them and must print a message first.
const lowest = [22, 12] as const
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)

if (major < lowest[0] || (major === lowest[0] && minor < lowest[1])) {
  process.stderr.write(
    `phi needs Node ${lowest.join('.')} or newer; this is Node ${process.versions.node}. Install a newer Node: https://nodejs.org\n`,
  )
  process.exitCode = 1
} else {
  const { main } = await import('./main.ts')
  process.exitCode = await main(process.argv.slice(2))
}

export {}
