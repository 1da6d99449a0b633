<?php

/*
 * Runs tests of one PHPUnit file and reports each over descriptor 3. Started with `php -n`: no php.ini, so nothing
 * is prepended; no phpunit.xml is read. Classes cannot be changed in PHP once they are there, so all that
 * assertions are made of is loaded before any tested code.
 */

declare(strict_types=1);

namespace Clawbench;

use PHPUnit\Framework\TestCase;
use PHPUnit\Framework\TestSuite;

const LIBRARY = '/usr/share/php';
const PARTS = ['PHPUnit/Framework', 'SebastianBergmann/Comparator', 'SebastianBergmann/Exporter'];

/** @return resource */
function openChannel(): mixed
{
    return fopen('php://fd/3', 'r+b') ?: exit(70);
}

function loadFramework(): void
{
    require is_file(LIBRARY . '/PHPUnit/Autoload.php') ? LIBRARY . '/PHPUnit/Autoload.php' : LIBRARY . '/PHPUnit/autoload.php';
    foreach (PARTS as $part) {
        $files = new \RecursiveIteratorIterator(new \RecursiveDirectoryIterator(LIBRARY . "/$part", \FilesystemIterator::SKIP_DOTS));
        foreach ($files as $file) {
            if ($file->getExtension() === 'php' && strtolower($file->getFilename()) !== 'autoload.php') {
                require_once $file->getPathname();
            }
        }
    }
}

/** @return array<string, TestCase> the file's tests by name, those of data providers as well */
function testsOf(string $file): array
{
    $before = get_declared_classes();
    (static function (string $clawbenchFile): void {
        require $clawbenchFile;
    })($file);
    $tests = [];
    foreach (array_diff(get_declared_classes(), $before) as $class) {
        $mirror = new \ReflectionClass($class);
        if ($mirror->isSubclassOf(TestCase::class) && !$mirror->isAbstract() && $mirror->getFileName() === $file) {
            $tests += flatten(method_exists(TestSuite::class, 'fromClassReflector')
                ? TestSuite::fromClassReflector($mirror) : new TestSuite($mirror));
        }
    }
    return $tests;
}

/** @return array<string, TestCase> */
function flatten(TestSuite $suite): array
{
    $tests = [];
    foreach ($suite->tests() as $test) {
        if ($test instanceof TestSuite) {
            $tests += flatten($test);
        } elseif ($test instanceof TestCase) {
            $tests[method_exists($test, 'nameWithDataSet') ? $test->nameWithDataSet() : $test->getName()] = $test;
        }
    }
    return $tests;
}

/** @return array{string, string} */
function outcomeOf(?TestCase $test): array
{
    if ($test === null) {
        return ['missing', 'the file has no such test'];
    }
    $result = $test->run();
    if ($result === null) {
        $status = $test->status();
        return [$status->isSuccess() ? 'passed' : ($status->isSkipped() ? 'skipped' : 'failed'), $status->message()];
    }
    $passed = $result->wasSuccessful() && $result->skippedCount() + $result->notImplementedCount() + $result->riskyCount() === 0;
    if ($passed && count($result->passed()) === 1) {
        return ['passed', ''];
    }
    return [$result->skippedCount() ? 'skipped' : ($result->errorCount() ? 'error' : 'failed'), $test->getStatusMessage()];
}

function main(string $root, string $file, string ...$names): void
{
    $channel = openChannel();
    $nonce = stream_get_contents($channel, 32);
    $send = static function (array $frame) use ($channel, $nonce): void {
        fwrite($channel, $nonce . ' ' . json_encode($frame, JSON_INVALID_UTF8_SUBSTITUTE) . "\n");
    };
    loadFramework();
    $send(['hello' => PHP_VERSION]);
    try {
        $tests = testsOf("$root/$file");
        $problem = null;
    } catch (\Throwable $error) {
        $problem = (string) $error;
    }
    $outcomes = [];
    foreach ($names as $name) {
        try {
            $outcomes[$name] = $problem === null ? outcomeOf($tests[$name] ?? null) : ['error', $problem];
        } catch (\Throwable $error) {
            $outcomes[$name] = ['error', (string) $error];
        }
    }
    foreach ($outcomes as $name => [$status, $detail]) {
        echo "$status $name\n", $detail === '' ? '' : "$detail\n";
        $send(['test' => (string) $name, 'status' => $status, 'detail' => substr($detail, 0, 4000)]);
    }
    $send(['end' => count($names)]);
}

main(...array_slice($argv, 1));
