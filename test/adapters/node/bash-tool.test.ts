import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { type AddressInfo, createServer, type ListenOptions, type Server } from 'node:net'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { type BashOptions, bashTool, defaultDenyPatterns } from '../../../adapters/node/index.ts'
import { processesWith } from '../../../adapters/node/process/kill.ts'
import type { JsonObject, ToolError, ToolResult } from '../../../src/index.ts'
import { toToolResult } from '../../../src/loop/calls/tool-result.ts'
import type { ToolOutput } from '../../../src/types/tool/tool.ts'
import { runs } from '../../support/runs.ts'
import { failureOf, present, temporaryRoot, toolContext } from './temporary.ts'

const hasBubblewrap = present('bwrap', '--version')
const modes = [...(hasBubblewrap ? (['bubblewrap'] as const) : []), 'none' as const]

function textOf(result: ToolOutput): string {
  return toToolResult('tool', result)
    .content.map((block) => (block.type === 'text' ? block.text : ''))
    .join('')
}

function shell(sandbox: BashOptions['sandbox'], options: Partial<BashOptions> = {}) {
  const { root, outside } = temporaryRoot()
  const tool = bashTool({ root, sandbox: sandbox ?? 'bubblewrap', ...options })
  const run = async (command: string, context = toolContext()) => textOf(await tool.execute({ command }, context))
  return { root, outside, tool, run }
}

/** Processes of this user whose command line holds `argument`. */
const running = (argument: string) => processesWith('cmdline', (args) => args.includes(argument)).length

for (const sandbox of modes) {
  describe(`bashTool: ${sandbox}`, () => {
    it('returns exit code and output and reports a failed command as a result', async () => {
      const { tool, run } = shell(sandbox)
      expect(await run('echo hi')).toBe('Exit code: 0\nhi\n')
      expect(await run('echo out; echo err >&2; exit 3')).toBe('Exit code: 3\nSTDOUT:\nout\n\nSTDERR:\nerr\n')
      const result = await tool.execute({ command: 'false' }, toolContext())
      expect(result).toEqual({ content: [{ type: 'text', text: 'Exit code: 1\n' }], details: { exit_code: 1, success: false } })
    })

    it('runs in the root and keeps the written files', async () => {
      const { root, run } = shell(sandbox)
      writeFileSync(join(root, 'in'), 'content')
      expect(await run('cat in; echo made > out')).toBe('Exit code: 0\ncontent')
      expect(readFileSync(join(root, 'out'), 'utf8')).toBe('made\n')
    })

    it('passes the command unchanged, with empty standard input', async () => {
      const { run } = shell(sandbox)
      expect(await run('cat; echo "$0 $# \'q\' $((1+1))"')).toBe("Exit code: 0\nbash 0 'q' 2\n")
    })

    it("hides the host's environment and location but passes given variables", async () => {
      process.env.PHI_CANARY = 'canary-value'
      try {
        const { run } = shell(sandbox, { env: { GIVEN: 'a b=c' } })
        const output = await run('env; cat /proc/1/environ /proc/self/environ | tr "\\0" "\\n"')
        expect(output).toContain('GIVEN=a b=c')
        expect(output).not.toContain('canary-value')
        if (sandbox === 'bubblewrap') expect(output).not.toContain(process.cwd())
      } finally {
        delete process.env.PHI_CANARY
      }
    })

    it('rejects denied and missing commands', async () => {
      const { tool, run } = shell(sandbox)
      expect(await failureOf(run('sudo rm -fr / --no-preserve-root'))).toBe(
        "failed: Command blocked by safety policy: it runs 'rm -rf /'. Use another way to do the task.",
      )
      expect(await failureOf(tool.execute({} satisfies JsonObject, toolContext()))).toBe(
        "invalidArguments: Invalid arguments: missing 'command' parameter",
      )
      expect(await failureOf(run('echo a\0b'))).toMatch(/^failed: Failed to execute: /)
    })

    it('kills all processes on a timeout, even outside the process group', async () => {
      const { run } = shell(sandbox, { timeoutMs: 300 })
      expect(await failureOf(run('setsid sleep 301.25 & sleep 302.25 & trap "" TERM; sleep 303.25; sleep 303.25'))).toBe(
        'timeout: Command timed out after 0.3s',
      )
      for (const argument of ['301.25', '302.25', '303.25']) expect(running(argument)).toBe(0)
    })

    it('kills all processes on an abort', async () => {
      const { run } = shell(sandbox)
      const controller = new AbortController()
      const context = toolContext(controller.signal)
      const call = run('setsid sleep 304.25 & echo started; sleep 305.25', { ...context, update: () => controller.abort() })
      expect(await failureOf(call)).toBe('cancelled: Cancelled. Output so far:\nstarted\n')
      expect(running('304.25') + running('305.25')).toBe(0)
      expect(await failureOf(run('touch never', toolContext(AbortSignal.abort())))).toBe('cancelled: Cancelled')
    })

    it('kills background processes when the command ends', async () => {
      const { run } = shell(sandbox)
      expect(await run('setsid sleep 306.25 & sleep 307.25 & disown; echo done')).toBe('Exit code: 0\ndone\n')
      expect(running('306.25') + running('307.25')).toBe(0)
    })

    it('truncates large output in the middle with bounded memory', async () => {
      const { run } = shell(sandbox, { maxOutputBytes: 1000, timeoutMs: 60_000 })
      // The first flood lets the allocator grow to its working size; ten times as much must not need more.
      const flood = (bytes: number) => run(`echo first; yes | head -c ${bytes}; echo last`, { ...toolContext(), update: () => {} })
      const most = runs(80_000_000, 500_000_000)
      await flood(most / 10)
      const before = process.memoryUsage().rss
      const output = await flood(most)
      expect(process.memoryUsage().rss - before).toBeLessThan(128 * 2 ** 20)
      expect(output).toMatch(/^Exit code: 0\nfirst\ny\n/)
      expect(output).toMatch(/\n\.\.\. \(output truncated\)\n\n?(y\n)+last\n$/)
      expect(output.length).toBeLessThan(1100)
    })

    it('emits output while the command runs', async () => {
      const { root, run } = shell(sandbox)
      const context = toolContext()
      const update = (partial: ToolResult) => {
        context.update(partial)
        // The command goes on only when its first output was seen.
        writeFileSync(join(root, 'seen'), '')
      }
      await run('echo first; until [ -e seen ]; do :; done; printf "gr\\303\\274n"', { ...context, update })
      expect(textOf(context.updates[0] ?? '')).toBe('first\n')
      expect(textOf(context.updates.at(-1) ?? '')).toBe('first\ngrün')
    })
  })
}

describe('bashTool options', () => {
  it('requires approval by default', () => {
    const { tool } = shell('none')
    expect([tool.name, tool.needsApproval, tool.timeoutMs]).toEqual(['bash', true, 125_000])
    expect(shell('none', { needsApproval: false }).tool.needsApproval).toBe(false)
  })

  it.each(['rm -rf /', 'rm -rf /*', 'mkfs', 'dd if=', ':(){:|:&};:'])('rejects the command %j by default', async (pattern) => {
    const { run } = shell('none')
    expect(await failureOf(run(`true || ${pattern}`))).toMatch(/^failed: Command blocked by safety policy: it /)
    expect(defaultDenyPatterns).toContain(pattern)
    expect(await shell('none', { denyPatterns: [] }).run(`echo '${pattern}'`)).toBe(`Exit code: 0\n${pattern}\n`)
  })

  it('limits each output to 256 KiB and the run time to 120 s by default', async () => {
    const { tool, run } = shell('none')
    expect(tool.description).toContain('Time limit: 120 s')
    const text = async (bytes: number) => (await run(`yes | head -c ${bytes}`)).length - 'Exit code: 0\n'.length
    expect(await text(262_144)).toBe(262_144)
    expect(await text(262_146)).toBe(262_144 + '\n... (output truncated)\n'.length)
    expect(() => shell('none', { maxOutputBytes: Number.POSITIVE_INFINITY })).toThrow('maxOutputBytes')
  })

  it('rejects invalid bashTool options', () => {
    const { root } = temporaryRoot()
    expect(() => bashTool({ root: join(root, 'missing'), sandbox: 'none' })).toThrow('ENOENT')
    expect(() => bashTool({ root, sandbox: 'none', timeoutMs: 0 })).toThrow('timeoutMs')
    expect(() => bashTool({ root, sandbox: 'none', env: { A: 'x\0--bind\0/\0/host' } })).toThrow('is not a valid environment variable')
  })

  it('throws SandboxUnavailable without bubblewrap', () => {
    // What lies in the root is none.
    const root = '/usr'
    const make = () => bashTool({ root, allowSystemRoot: true })
    expect(make).toThrow(/apt-get install bubblewrap.*sandbox: 'none'/)
    expect(make).toThrow(expect.objectContaining({ name: 'SandboxUnavailable', code: 'sandboxUnavailable' }))
  })

  it('throws SandboxUnavailable if bubblewrap does not work', () => {
    const { root, outside } = temporaryRoot()
    const bwrap = join(outside, 'bwrap')
    writeFileSync(bwrap, '#!/bin/sh\necho "no user namespaces" >&2\nexit 1\n', { mode: 0o755 })
    if (process.platform === 'linux') expect(() => bashTool({ root, programs: { bwrap } })).toThrow('no user namespaces')
  })

  it('throws SandboxUnavailable on an architecture without a seccomp filter', () => {
    const { root } = temporaryRoot()
    const before = process.arch
    Object.defineProperty(process, 'arch', { value: 'riscv64' })
    try {
      if (process.platform === 'linux')
        expect(() => bashTool({ root })).toThrow(/sandbox, but there is no system-call filter for .* riscv64/)
    } finally {
      Object.defineProperty(process, 'arch', { value: before })
    }
  })
})

/** A server of the host that counts who connects. */
function listening(where: ListenOptions, onVisitor: () => void): Promise<Server> {
  const server = createServer((socket) => {
    onVisitor()
    socket.destroy()
  })
  return new Promise((resolve) => server.listen(where, () => resolve(server)))
}

/** Runs each command and gives those that succeeded although they must not. */
async function succeeded(run: (command: string) => Promise<string>, commands: readonly string[]): Promise<string[]> {
  const wrong: string[] = []
  for (const command of commands) {
    if ((await run(command)).startsWith('Exit code: 0')) wrong.push(command)
  }
  return wrong
}

describe.skipIf(!hasBubblewrap)('bashTool sandbox', () => {
  it('blocks reads and writes outside the root', async () => {
    const { root, outside, run } = shell('bubblewrap')
    writeFileSync(join(outside, 'secret'), 'SECRET')
    symlinkSync(outside, join(root, 'link'))
    const commands = [
      `cat ${outside}/secret`,
      'cat link/secret',
      'cat /proc/1/root/etc/shadow',
      'cat /etc/shadow',
      'ls /root',
      'ls /home',
      `echo x > ${outside}/planted`,
      'echo x > link/planted',
      'touch /usr/planted',
      'touch /etc/planted',
      'touch /planted',
      'touch /dev/planted',
      'mv /workspace /elsewhere',
      'ls /var/run/docker.sock /run/docker.sock',
    ]
    expect(await succeeded(run, commands)).toEqual([])
    expect(readdirSync(outside)).toEqual(['secret'])
  })

  it('confines obfuscated commands that bypass the deny list', async () => {
    const { outside, run } = shell('bubblewrap')
    writeFileSync(join(outside, 'secret'), 'SECRET')
    const removal = `rm -rf ${outside}`
    for (const hidden of [
      `r''m -r'f' ${outside}`,
      `echo ${Buffer.from(removal).toString('base64')} | base64 -d | sh`,
      `IFS=_; c=rm_-rf_${outside}; $c`,
      `find ${outside} -delete`,
      `echo ${outside} | xargs rm -rf`,
    ]) {
      await run(hidden)
      expect(readdirSync(outside), hidden).toEqual(['secret'])
    }
  })

  it("blocks input to the user's terminal", async () => {
    const { run } = shell('bubblewrap')
    expect(await run('echo x > /dev/tty')).toContain('No such device or address')
  })

  it("blocks changes to other programs' configuration, even before it exists", async () => {
    for (const existing of [true, false]) {
      const { root, run } = shell('bubblewrap')
      if (existing) {
        mkdirSync(join(root, '.git/hooks'), { recursive: true })
        mkdirSync(join(root, '.vscode'))
        for (const name of ['.git/config', '.bashrc', '.mcp.json', '.vscode/tasks.json']) writeFileSync(join(root, name), 'original')
      }
      const before = readdirSync(root, { recursive: true }).sort()
      const commands = [
        'mkdir -p .git/hooks && echo evil > .git/hooks/pre-commit',
        'echo evil > .git/config',
        'echo evil >> .bashrc',
        'rm .bashrc',
        'mv .git .old',
        'rmdir .git .vscode',
        'rm -rf .vscode .git',
        'mv -T /tmp .git',
        'ln -sfT /tmp .vscode',
        'echo evil > .mcp.json',
        'mkdir -p .vscode && echo evil > .vscode/tasks.json',
        'git init',
        'umount .git',
        'mount -o remount,rw .git',
      ]
      expect(await succeeded(run, commands)).toEqual([])
      expect(readdirSync(root, { recursive: true }).sort()).toEqual(before)
      if (existing) expect(readFileSync(join(root, '.bashrc'), 'utf8')).toBe('original')
    }
  })

  it('keeps placeholders until no command needs them and then removes them', async () => {
    const { root, run } = shell('bubblewrap')
    const waiting = run('until [ -e go ]; do :; done; echo evil > .git/x; echo evil > .bashrc; ls -A')
    await run('true')
    expect(existsSync(join(root, '.git'))).toBe(true)
    writeFileSync(join(root, 'go'), '')
    expect(await waiting).toContain('.bashrc')
    expect(readdirSync(root)).toEqual(['go'])
  })

  it('keeps a file that the user writes in place of a placeholder', async () => {
    const { root, run } = shell('bubblewrap')
    const waiting = run('touch ready; until [ -e go ]; do :; done')
    while (!existsSync(join(root, 'ready'))) await new Promise(setImmediate)
    writeFileSync(join(root, '.git/HEAD'), 'ref')
    writeFileSync(join(root, '.bashrc'), 'mine')
    writeFileSync(join(root, 'go'), '')
    await waiting
    expect(readdirSync(root, { recursive: true }).sort()).toEqual(['.bashrc', '.git', '.git/HEAD', 'go', 'ready'])
  })

  it('rejects a workspace whose protected file is a symbolic link', async () => {
    const { root, outside, run } = shell('bubblewrap')
    symlinkSync(outside, join(root, '.git'))
    expect(await failureOf(run('true'))).toMatch(/symbolic link/)
    expect(readdirSync(root)).toEqual(['.git'])
  })

  it('blocks host services on loopback and abstract sockets', async () => {
    for (const sandbox of modes) {
      const { run } = shell(sandbox)
      const visitors = { loopback: 0, abstract: 0 }
      const loopback = await listening({ host: '127.0.0.1', port: 0 }, () => visitors.loopback++)
      const abstract = await listening({ path: `\0phi-${process.pid}` }, () => visitors.abstract++)
      try {
        const { port } = loopback.address() as AddressInfo // a server on a port, not on a path
        await run(`timeout 5 bash -c 'echo > /dev/tcp/127.0.0.1/${port}'`)
        await run(
          `perl -MSocket -e 'socket(my $s, AF_UNIX, SOCK_STREAM, 0); connect($s, pack_sockaddr_un("\\0phi-${process.pid}")) or die $!'`,
        )
      } finally {
        loopback.close()
        abstract.close()
      }
      // Without the sandbox both are reached, so the attempts are real.
      const expected =
        sandbox === 'none' ? { loopback: 1, abstract: present('perl', '-MSocket', '-e', '1') ? 1 : 0 } : { loopback: 0, abstract: 0 }
      expect(visitors, sandbox).toEqual(expected)
    }
  })

  it('blocks the network, other socket families and kernel interfaces', async () => {
    const { run } = shell('bubblewrap')
    const commands = ['1.1.1.1/80', '169.254.169.254/80'].map((address) => `timeout 5 bash -c 'echo > /dev/tcp/${address}'`)
    commands.push("timeout 5 bash -c 'echo > /dev/udp/1.1.1.1/53'")
    expect(await succeeded(run, commands)).toEqual([])
    const python = (code: string) => `python3 -c "${code}"`
    if (!(await run('python3 -c "" ')).startsWith('Exit code: 0'))
      return console.warn('python3 is not installed: the seccomp probes are SKIPPED')
    expect(await run(python('import socket; socket.socket(40, 1)'))).toContain('Operation not permitted')
    expect(await run(python('import socket; socket.socket(socket.AF_INET); socket.socketpair(); print(1)'))).toBe('Exit code: 0\n1\n')
  })

  it('blocks namespaces, mounts, devices and other processes', async () => {
    const { run } = shell('bubblewrap')
    const commands = [
      'unshare -Ur true',
      'unshare -Urm true',
      'mount -t tmpfs x /tmp',
      'mknod /tmp/disk b 8 0',
      'chroot / true',
      `kill -0 ${process.pid}`,
      'nsenter -t 1 -m true',
      `cat /proc/${process.pid}/environ`,
      'echo x > /proc/sys/kernel/hostname',
      // Opened for writing, nothing written: this one is the host's.
      ': >> /proc/sys/kernel/core_pattern',
      'echo c > /proc/sysrq-trigger',
    ]
    expect(await succeeded(run, commands)).toEqual([])
    expect(await run('id -u; grep CapEff /proc/self/status')).toBe('Exit code: 0\n65534\nCapEff:\t0000000000000000\n')
  })

  it('limits memory, disk and CPU time', async () => {
    const { run } = shell('bubblewrap', { timeoutMs: 20_000 })
    const commands = ['dd bs=5G count=1 < /dev/zero > /dev/null', 'head -c 400M /dev/zero > /tmp/big', 'truncate -s 10G big']
    expect(await succeeded(run, commands)).toEqual([])
    expect(await run('ulimit -f; ulimit -d; ulimit -t')).toBe('Exit code: 0\n1048576\n4194304\n40\n')
    // Twice the time limit, and enough to start anything.
    for (const [timeoutMs, seconds] of [
      [4900, 10],
      [5100, 12],
    ] as const) {
      expect(await shell('bubblewrap', { timeoutMs }).run('ulimit -t')).toBe(`Exit code: 0\n${seconds}\n`)
    }
  })

  it('limits processes, even if root is exempt from the kernel limit', async () => {
    // Where the kernel holds the limit, bash tries again for 15 s.
    const { run } = shell('bubblewrap', { timeoutMs: 50_000 })
    const flood = 'for ((n = 0; n < 8000; n++)); do sleep 308.25 & done; wait'
    expect(await run(flood).catch((error: ToolError) => error.message)).toMatch(/1024 concurrent processes|Resource temporarily/)
    expect(running('308.25')).toBe(0)
  })

  it('executes no code from a nested repository on git status of the root', async () => {
    if (!present('git', '--version')) return
    const { root, run } = shell('bubblewrap')
    const { execFileSync } = await import('node:child_process')
    execFileSync('git', ['init', '-q'], { cwd: root })
    await run('mkdir sub && cd sub && git init -q && git config core.fsmonitor "touch /workspace/../pwned; touch pwned"')
    expect(existsSync(join(root, 'sub/.git'))).toBe(true)
    execFileSync('git', ['status'], { cwd: root, stdio: 'ignore' })
    expect(readdirSync(root, { recursive: true }).filter((name) => String(name).includes('pwned'))).toEqual([])
  })
})
