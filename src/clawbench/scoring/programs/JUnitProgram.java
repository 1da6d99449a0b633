import java.io.FileDescriptor;
import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.io.IOException;
import java.lang.reflect.Field;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.junit.runner.Description;
import org.junit.runner.JUnitCore;
import org.junit.runner.Request;
import org.junit.runner.manipulation.Filter;
import org.junit.runner.notification.Failure;
import org.junit.runner.notification.RunListener;

/** Runs tests of one JUnit 4 class and reports each over descriptor 3. JUnit's own jar is first on the class path. */
public final class JUnitProgram {
    private static final int CHANNEL = 3;
    private static final int NONCE_BYTES = 32;

    private final String nonce;
    private final FileOutputStream out;

    private JUnitProgram() throws ReflectiveOperationException, IOException {
        FileDescriptor descriptor = new FileDescriptor();
        Field number = FileDescriptor.class.getDeclaredField("fd");
        number.setAccessible(true);
        number.setInt(descriptor, CHANNEL);
        nonce = readNonce(new FileInputStream(descriptor));
        out = new FileOutputStream(descriptor);
    }

    private static String readNonce(FileInputStream in) throws IOException {
        byte[] bytes = new byte[NONCE_BYTES];
        for (int filled = 0; filled < NONCE_BYTES; ) {
            int count = in.read(bytes, filled, NONCE_BYTES - filled);
            if (count < 0) {
                throw new IOException("the channel ended before the nonce did");
            }
            filled += count;
        }
        return new String(bytes, StandardCharsets.US_ASCII);
    }

    private void send(String frame) throws IOException {
        out.write((nonce + " {" + frame + "}\n").getBytes(StandardCharsets.UTF_8));
    }

    private static String quoted(String text) {
        StringBuilder quoted = new StringBuilder("\"");
        for (char c : text.toCharArray()) {
            boolean plain = c >= ' ' && c < 127 && c != '"' && c != '\\';
            quoted.append(plain ? String.valueOf(c) : String.format("\\u%04x", (int) c));
        }
        return quoted.append('"').toString();
    }

    private static final class Recorder extends RunListener {
        final Map<String, String> statuses = new HashMap<>();
        final Map<String, String> details = new HashMap<>();

        private void note(Description test, String status, String detail) {
            String name = test.getMethodName();
            if (name != null && statuses.getOrDefault(name, "passed").equals("passed")) {
                statuses.put(name, status);
                details.put(name, detail.substring(0, Math.min(detail.length(), 4000)));
            }
        }

        @Override
        public void testFinished(Description test) {
            note(test, "passed", "");
        }

        @Override
        public void testFailure(Failure failure) {
            note(failure.getDescription(), "failed", failure.getTrace());
        }

        @Override
        public void testAssumptionFailure(Failure failure) {
            note(failure.getDescription(), "skipped", String.valueOf(failure.getMessage()));
        }

        @Override
        public void testIgnored(Description test) {
            note(test, "skipped", "");
        }
    }

    private static final class Named extends Filter {
        private final Set<String> names;

        Named(Set<String> names) {
            this.names = names;
        }

        @Override
        public boolean shouldRun(Description test) {
            return test.isSuite() || names.contains(test.getMethodName());
        }

        @Override
        public String describe() {
            return "the tests asked for";
        }
    }

    public static void main(String[] arguments) throws Exception {
        JUnitProgram program = new JUnitProgram();
        program.send("\"hello\": " + quoted(System.getProperty("java.version")));
        Set<String> names = new TreeSet<>(Arrays.asList(arguments).subList(1, arguments.length));
        Recorder recorder = new Recorder();
        String problem = "the class has no such test";
        try {
            JUnitCore core = new JUnitCore();
            core.addListener(recorder);
            core.run(Request.aClass(Class.forName(arguments[0])).filterWith(new Named(names)));
        } catch (Throwable error) {
            problem = String.valueOf(error);
        }
        for (String name : names) {
            String status = recorder.statuses.getOrDefault(name, "missing");
            String detail = recorder.details.getOrDefault(name, problem);
            System.out.println(status + " " + name + (detail.isEmpty() ? "" : "\n" + detail));
            program.send("\"test\": " + quoted(name) + ", \"status\": " + quoted(status) + ", \"detail\": " + quoted(detail));
        }
        System.out.flush();
        program.send("\"end\": " + names.size());
        Runtime.getRuntime().halt(0);
    }
}
